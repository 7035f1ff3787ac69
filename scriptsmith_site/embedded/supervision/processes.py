"""Find, stop and bind processes based on their data in /proc, never on a pid file alone.

The PID in a pid file may now belong to another process, but a command line identifies the process.
"""

from __future__ import annotations

import ctypes
import os
import signal
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol

_PROC = Path("/proc")
_PR_SET_PDEATHSIG, _PR_SET_NAME = 1, 15
# Indexes of the command line's start and end addresses among the fields after the name in /proc/PID/stat.
_COMMAND_LINE_BEGIN, _COMMAND_LINE_END = 45, 46
_LIBC = ctypes.CDLL(None, use_errno=True)
_M_ARENA_MAX = -8


class Process(Protocol):
    """A child of this process. `returncode` is negative after a signal, and None while the process runs."""

    pid: int
    returncode: int | None


def find(matches: Callable[[int], bool]) -> list[int]:
    """Return the PIDs of matching processes, except those that exit during the search or can't be read."""
    found = []
    for entry in os.listdir(_PROC):
        if entry.isdigit():
            try:
                if matches(int(entry)):
                    found.append(int(entry))
            except OSError:
                continue
    return found


def command_line(pid: int) -> list[str]:
    """Return the arguments of a process. A zombie has one empty argument.

    Raises OSError if the process does not exist.
    """
    return os.fsdecode((_PROC / str(pid) / "cmdline").read_bytes()).rstrip("\0").split("\0")


def command_name(pid: int) -> str:
    """Return the name of the program that a process runs. Raises OSError if the process does not exist."""
    return (_PROC / str(pid) / "comm").read_text().rstrip("\n")


def working_folder(pid: int) -> Path:
    """Return the working directory of a process. Raises OSError if the process does not exist or is not ours."""
    return Path(os.readlink(_PROC / str(pid) / "cwd"))


def has_variable(pid: int, name: str, value: str) -> bool:
    """Return whether a process was started with this environment variable. Raises OSError."""
    environment = (_PROC / str(pid) / "environ").read_bytes()
    return f"{name}={value}".encode() in environment.split(b"\0")


def is_alive(pid: int) -> bool:
    """Return whether a process exists and is not a zombie."""
    return _status(pid)[0] not in "ZX"


def parent(pid: int) -> int:
    """Return the PID of a process's parent, or 0 if the process does not exist."""
    return int(_status(pid)[1])


def _status(pid: int) -> list[str]:
    try:
        text = (_PROC / str(pid) / "stat").read_text()
    except OSError:
        return ["X", "0"]
    return text.rpartition(")")[2].split()


def wait_until_gone(pids: Iterable[int], seconds: float) -> bool:
    """Wait up to `seconds` until all of these processes have exited, and return whether they have."""
    deadline = time.monotonic() + seconds
    waiting = [pid for pid in pids if is_alive(pid)]
    while waiting and time.monotonic() < deadline:
        time.sleep(0.01)
        waiting = [pid for pid in waiting if is_alive(pid)]
    return not waiting


def end(pids: Iterable[int], *steps: tuple[signal.Signals, float]) -> None:
    """Stop the processes. Send each signal, then wait up to its number of seconds. The last signal is SIGKILL."""
    remaining = list(pids)
    for number, seconds in (*steps, (signal.SIGKILL, 5.0)):
        remaining = [pid for pid in remaining if is_alive(pid)]
        for pid in remaining:
            send(pid, number)
        if wait_until_gone(remaining, seconds):
            return


def send(pid: int, number: signal.Signals) -> None:
    """Send a signal. Ignore the error if the process has just exited."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def describe_end(name: str, process: Process | None) -> str:
    """Return a sentence that names the process and the signal or exit status that ended it."""
    if process is None or process.returncode is None:
        return f"{name} does not respond."
    how, status = f"ended with exit status {process.returncode}", process.returncode
    if status < 0:
        names = {number.value: number.name for number in signal.Signals}
        how = f"was killed by {names.get(-status, f'signal {-status}')}"
    return f"{name} (process {process.pid}) {how}."


def end_with_parent(number: signal.Signals) -> Callable[[], None]:
    """Return a `preexec_fn` that sends the child this signal when its parent exits for any reason.

    The parent may exit between fork and prctl. In that case, the child sends the signal to itself.
    """
    parent = os.getpid()

    def bind() -> None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)
        if os.getppid() != parent:
            os.kill(os.getpid(), number)

    return bind


def follow_parent(number: signal.Signals) -> None:
    """Send this process the signal when its parent exits."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)


def set_title(title: str) -> None:
    """Replace this process's command line in `ps` and /proc with a title.

    A title longer than the command line is truncated.
    """
    status = _status(os.getpid())
    begin, end = int(status[_COMMAND_LINE_BEGIN]), int(status[_COMMAND_LINE_END])
    if 0 < begin < end:
        room = end - begin
        ctypes.memmove(begin, title.encode()[: room - 1].ljust(room, b"\0"), room)
    _LIBC.prctl(_PR_SET_NAME, title.encode(), 0, 0, 0)  # truncated to 15 characters


def limit_arenas() -> None:
    """Limit this process to two malloc arenas, which all threads share. Call this function before any thread starts.

    By default, glibc gives each thread an arena that retains freed memory: about 40 MiB in a worker with 72 threads.
    """
    if mallopt := getattr(_LIBC, "mallopt", None):  # musl has no arenas
        mallopt(_M_ARENA_MAX, 2)
