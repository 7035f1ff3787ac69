"""The name under which this process holds leases."""

from __future__ import annotations

import os
import socket
import uuid

_name = ""


def owner() -> str:
    """Return a name for this process that no other has, on this machine or another, now or later."""
    return _name


def _choose_name() -> None:
    global _name
    _name = f"{socket.gethostname()[:40]}:{os.getpid()}:{uuid.uuid4().hex[:12]}"


_choose_name()
# A fork gets another name than the process that it was forked from.
os.register_at_fork(after_in_child=_choose_name)
