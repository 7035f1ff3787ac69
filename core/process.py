"""The name of this process as an owner of leases, and the supervisor's standard error."""

from __future__ import annotations

import os
import select
import socket
import uuid
from contextlib import suppress

# If `select` reports a pipe as writable, the pipe accepts this number of bytes without blocking.
_LEAST_PIPE_ROOM = 4096

# The supervisor's standard error. The standard error of this process, which the supervisor forked, is a file.
console: int | None = None
_name = ""


def write_to_console(text: str) -> None:
    """Write to the supervisor's standard error. Discard text if there is no supervisor or the reader is too slow."""
    data = text.encode()
    with suppress(OSError):
        while console is not None and data and select.select([], [console], [], 0)[1]:
            data = data[os.write(console, data[:_LEAST_PIPE_ROOM]) :]


def owner() -> str:
    """Return this process's name, which is globally unique."""
    return _name


def _choose_name() -> None:
    global _name
    _name = f"{socket.gethostname()[:40]}:{os.getpid()}:{uuid.uuid4().hex[:12]}"


_choose_name()
# A forked process needs its own name.
os.register_at_fork(after_in_child=_choose_name)
