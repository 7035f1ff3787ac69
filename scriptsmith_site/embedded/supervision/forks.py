"""Processes forked from the supervisor after it has loaded the product, so that they start fast and share memory."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from typing import NoReturn

from core.niceness import become_nice_session
from scriptsmith_site.embedded.supervision import processes

_HANDLED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD)


class Fork:
    """A forked process in its own session, which gets SIGTERM when the supervisor exits."""

    def __init__(
        self,
        main: Callable[[], object],
        *,
        title: str,
        output: int,
        errors: int,
        kept: Sequence[int] = (),
        niceness: int = 0,
    ) -> None:
        """Run `main` in a new process that keeps only the descriptors `output`, `errors` and `kept`.

        The calling process must have only one thread. Other threads would not exist in the new process, but their locks
        would stay locked.
        """
        assert threading.active_count() == 1, "only a process with one thread may fork"
        bind = processes.end_with_parent(signal.SIGTERM)
        sys.stdout.flush()
        sys.stderr.flush()
        # A signal that arrives early is delayed until the new process has its own handlers.
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, _HANDLED)
        self.pid = os.fork()
        if self.pid == 0:
            _become(
                main, title, (output, errors), kept, niceness, lambda: _set_signals(bind, blocked)
            )
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit status, which is negative after a signal, or None while the process runs."""
        return self._wait(os.WNOHANG)

    def wait(self) -> None:
        """Wait until the process has exited."""
        self._wait(0)

    def _wait(self, options: int) -> int | None:
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, options)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode


def _become(
    main: Callable[[], object],
    title: str,
    standard: tuple[int, int],
    kept: Sequence[int],
    niceness: int,
    set_signals: Callable[[], None],
) -> NoReturn:
    """Run `main` and exit. This function must not return, because the supervisor's stack is below this frame."""
    status = 1
    try:
        os.setsid()
        _set_descriptors(standard, kept)
        set_signals()
        processes.set_title(title)
        processes.limit_arenas()
        if niceness:
            become_nice_session(niceness)
        main()
        status = 0
    except SystemExit as error:
        status = _exit_status(error)
    except BaseException:
        traceback.print_exc()
    finally:
        _finish()
        os._exit(status)


def _set_descriptors(standard: tuple[int, int], kept: Sequence[int]) -> None:
    output, errors = standard
    nothing = os.open(os.devnull, os.O_RDONLY)
    for number, descriptor in enumerate((nothing, output, errors)):
        os.dup2(descriptor, number)
    # The other descriptors include the supervisor's locks, which must not outlive the supervisor.
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and int(name) not in kept:
            try:
                os.close(int(name))
            except OSError:  # `listdir`'s own descriptor, which is already closed
                continue


def _set_signals(bind: Callable[[], None], mask: set[int | signal.Signals]) -> None:
    signal.set_wakeup_fd(-1)
    for number in _HANDLED:
        # SIGHUP stays ignored under nohup.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    bind()
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _exit_status(error: SystemExit) -> int:
    """Return the exit status for a SystemExit, and print its message as the interpreter does."""
    if error.code is None or isinstance(error.code, int):
        return error.code or 0
    print(error.code, file=sys.stderr)
    return 1


def _finish() -> None:
    """Wait for threads, call exit functions and flush output, as the interpreter does before it exits."""
    try:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        traceback.print_exc()
