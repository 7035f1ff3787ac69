"""The name under which this process holds leases, and the supervisor's standard error."""

from __future__ import annotations

import os
import select
import socket
import uuid
from contextlib import suppress

_LEAST_PIPE_ROOM = 4096  # what a pipe that `select` calls writable takes without blocking

# Standard error of the supervisor that forked this process, whose own is a file.
console: int | None = None
_name = ""


def write_to_console(text: str) -> None:
    """Write to the supervisor's standard error, unless there is none or its reader is too slow."""
    data = text.encode()
    with suppress(OSError):
        while console is not None and data and select.select([], [console], [], 0)[1]:
            data = data[os.write(console, data[:_LEAST_PIPE_ROOM]) :]


def owner() -> str:
    """Return a name for this process that no other has, on this machine or another, now or later."""
    return _name


def _choose_name() -> None:
    global _name
    _name = f"{socket.gethostname()[:40]}:{os.getpid()}:{uuid.uuid4().hex[:12]}"


_choose_name()
# A fork gets another name than the process that it was forked from.
os.register_at_fork(after_in_child=_choose_name)
