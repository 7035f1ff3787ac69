"""The name under which this process holds leases, and the supervisor's standard error."""

from __future__ import annotations

import os
import select
import socket
import uuid
from contextlib import suppress

# The number of bytes that a pipe accepts without blocking if `select` reports it writable.
_LEAST_PIPE_ROOM = 4096

# The standard error of the supervisor that forked this process, whose own goes to a file.
console: int | None = None
_name = ""


def write_to_console(text: str) -> None:
    """Write to the supervisor's standard error, unless it is missing or its reader is too slow."""
    data = text.encode()
    with suppress(OSError):
        while console is not None and data and select.select([], [console], [], 0)[1]:
            data = data[os.write(console, data[:_LEAST_PIPE_ROOM]) :]


def owner() -> str:
    """Return a unique name for this process, different from all others on any machine at any time."""
    return _name


def _choose_name() -> None:
    global _name
    _name = f"{socket.gethostname()[:40]}:{os.getpid()}:{uuid.uuid4().hex[:12]}"


_choose_name()
# A fork gets its own name.
os.register_at_fork(after_in_child=_choose_name)
