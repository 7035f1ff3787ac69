"""The name under which this process holds leases."""

from __future__ import annotations

import os
import socket
import uuid

# One name per process: two workers on one machine, or one restarted, are never the same owner.
OWNER = f"{socket.gethostname()[:40]}:{os.getpid()}:{uuid.uuid4().hex[:12]}"
