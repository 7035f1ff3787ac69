"""Start a program with limits. `subprocess` is not used, because importing it takes as long as a sandbox."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple, NoReturn

NOT_STARTED = 126


class Started(NamedTuple):
    """A child process and the parent's ends of its pipes, which the caller closes."""

    pid: int
    stdout: int
    stderr: int


def start(
    program: list[str],
    stdin: int,
    inherited: tuple[int, ...],
    prepare: Callable[[], None],
) -> Started:
    """Start the program with an empty environment and only descriptors 0, 1, 2 and those in `inherited`."""
    stdout_read, stdout_write = os.pipe()
    stderr_read, stderr_write = os.pipe()
    pid = os.fork()
    if pid == 0:
        _become(program, (stdin, stdout_write, stderr_write), inherited, prepare)
    os.close(stdout_write)
    os.close(stderr_write)
    for descriptor in (stdout_read, stderr_read):
        os.set_blocking(descriptor, False)
    return Started(pid, stdout_read, stderr_read)


def _become(
    program: list[str],
    standard: tuple[int, int, int],
    inherited: tuple[int, ...],
    prepare: Callable[[], None],
) -> NoReturn:
    # The fork must never return into the helper's own code.
    with suppress(BaseException):
        for number, descriptor in enumerate(standard):
            os.dup2(descriptor, number)
        for descriptor in inherited:
            os.set_inheritable(descriptor, True)
        # Python ignores SIGPIPE and children inherit this. `yes | head` would then report a broken pipe.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        prepare()
        os.execve(program[0], program, {})
    os._exit(NOT_STARTED)


def end_all() -> None:
    """Kill and reap all other processes of this PID namespace. Only the first process of the namespace may call this
    function.
    """
    with suppress(ProcessLookupError):
        os.kill(-1, 9)
    with suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)
