"""Finding, ending and binding processes, by what /proc says of them and never by a pid file alone.

A number in a file may belong to another process by now; a command line does not lie.
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
# Positions in /proc/PID/stat, counted after the name, of the first and last address of the command line.
_COMMAND_LINE_BEGIN, _COMMAND_LINE_END = 45, 46
_LIBC = ctypes.CDLL(None, use_errno=True)
_M_ARENA_MAX = -8


class Process(Protocol):
    """A child of this process. A return code below 0 is the signal that ended it; None while it runs."""

    pid: int
    returncode: int | None


def find(matches: Callable[[int], bool]) -> list[int]:
    """The processes for which `matches` holds; one that ends meanwhile, or is closed to us, not."""
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
    """The arguments of a process; empty for one that has ended and is not yet reaped.

    Raises OSError where there is no such process.
    """
    return os.fsdecode((_PROC / str(pid) / "cmdline").read_bytes()).rstrip("\0").split("\0")


def command_name(pid: int) -> str:
    """The name of the program that a process runs. Raises OSError where there is none."""
    return (_PROC / str(pid) / "comm").read_text().rstrip("\n")


def working_folder(pid: int) -> Path:
    """The folder that a process is in. Raises OSError where there is none, or it is not ours."""
    return Path(os.readlink(_PROC / str(pid) / "cwd"))


def has_variable(pid: int, name: str, value: str) -> bool:
    """Whether a process was started with an environment variable. Raises OSError like the rest."""
    environment = (_PROC / str(pid) / "environ").read_bytes()
    return f"{name}={value}".encode() in environment.split(b"\0")


def is_alive(pid: int) -> bool:
    """Whether a process exists and has not ended; one that waits to be reaped has ended."""
    return _status(pid)[0] not in "ZX"


def parent(pid: int) -> int:
    """The process that another one is a child of; 0 where there is none."""
    return int(_status(pid)[1])


def _status(pid: int) -> list[str]:
    try:
        text = (_PROC / str(pid) / "stat").read_text()
    except OSError:
        return ["X", "0"]
    return text.rpartition(")")[2].split()


def wait_until_gone(pids: Iterable[int], seconds: float) -> bool:
    """Whether all of these processes ended within the time."""
    deadline = time.monotonic() + seconds
    waiting = [pid for pid in pids if is_alive(pid)]
    while waiting and time.monotonic() < deadline:
        time.sleep(0.01)
        waiting = [pid for pid in waiting if is_alive(pid)]
    return not waiting


def end(pids: Iterable[int], *steps: tuple[signal.Signals, float]) -> None:
    """Send each signal and wait its seconds, until all have ended; SIGKILL comes last."""
    remaining = list(pids)
    for number, seconds in (*steps, (signal.SIGKILL, 5.0)):
        remaining = [pid for pid in remaining if is_alive(pid)]
        for pid in remaining:
            send(pid, number)
        if wait_until_gone(remaining, seconds):
            return


def send(pid: int, number: signal.Signals) -> None:
    """Send a signal; a process that has just ended is no error."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def describe_end(name: str, process: Process | None) -> str:
    """Return a sentence that names the process and the signal or exit status that ended it."""
    if process is None or process.returncode is None:
        return f"{name} does not answer."
    how, status = f"ended with exit status {process.returncode}", process.returncode
    if status < 0:
        names = {number.value: number.name for number in signal.Signals}
        how = f"was killed by {names.get(-status, f'signal {-status}')}"
    return f"{name} (process {process.pid}) {how}."


def end_with_parent(number: signal.Signals) -> Callable[[], None]:
    """A `preexec_fn`: the child gets this signal when the one who starts it ends, however it ends.

    The parent may end between fork and prctl: then the child has another parent already.
    """
    parent = os.getpid()

    def bind() -> None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)
        if os.getppid() != parent:
            os.kill(os.getpid(), number)

    return bind


def follow_parent(number: signal.Signals) -> None:
    """This process gets the signal when the one who started it ends."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)


def set_title(title: str) -> None:
    """Show a title instead of the command line of this process, in `ps` and in /proc.

    A title that is longer than the command line is cut.
    """
    status = _status(os.getpid())
    begin, end = int(status[_COMMAND_LINE_BEGIN]), int(status[_COMMAND_LINE_END])
    if 0 < begin < end:
        room = end - begin
        ctypes.memmove(begin, title.encode()[: room - 1].ljust(room, b"\0"), room)
    _LIBC.prctl(_PR_SET_NAME, title.encode(), 0, 0, 0)  # the kernel cuts it at 15 characters


def limit_arenas() -> None:
    """Let all threads of this process share two malloc arenas, before it starts any.

    glibc gives each thread its own, and what a thread once used stays in it: some 40 MiB of a worker with 72 threads.
    """
    if mallopt := getattr(_LIBC, "mallopt", None):  # musl has no arenas
        mallopt(_M_ARENA_MAX, 2)
