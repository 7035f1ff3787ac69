"""The child processes of the supervisor. Each has its own session and exits soon after the supervisor exits."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from core import process
from scriptsmith_site.embedded.supervision import processes
from scriptsmith_site.embedded.supervision.forks import Fork

SUPERVISED = "SCRIPTSMITH_SUPERVISED"

_UNREADY_GRACE = 10.0  # seconds
_KEPT_LOG_BYTES = 20 * 1024 * 1024


@dataclass(frozen=True)
class Program:
    """The program of a child process.

    `grace` is the time in seconds that it has to exit after SIGTERM. A program with a `ready` file has no work to
    finish before it creates the file, so it gets less time until then.
    """

    name: str
    main: Callable[[], object]
    grace: float
    descriptors: tuple[int, ...] = ()
    ready: Path | None = None
    niceness: int = 0


class Child:
    """One program and its process."""

    def __init__(self, program: Program, *, logs: Path) -> None:
        self.name = program.name
        self.log = logs / f"{program.name.replace(' ', '-')}.log"
        self._program = program
        self._process: Fork | None = None
        self._status: int | None = None
        self._log_begin = 0

    @property
    def grace(self) -> float:
        """The number of seconds to wait for the process to exit, which is lower until the process is ready."""
        ready = self._program.ready
        if ready is not None and not ready.exists():
            return min(self._program.grace, _UNREADY_GRACE)
        return self._program.grace

    def start(self, output: IO[bytes] | None = None) -> None:
        """Start the program and write its output to the log. If `output` is given, standard output is written there."""
        if self._program.ready is not None:
            self._program.ready.unlink(missing_ok=True)
        with self.log.open("ab") as log:
            self._log_begin = log.tell()
            self._process = Fork(
                self._program.main,
                title=f"scriptsmith {self.name}",
                output=(output or log).fileno(),
                errors=log.fileno(),
                kept=[*self._program.descriptors, *([process.console] if process.console else [])],
                niceness=self._program.niceness,
            )
        self._status = None

    @property
    def ended(self) -> int | None:
        """The exit status, or None while the process runs. When it exits, all processes that it started are killed."""
        if self._process is not None and self._status is None:
            self._status = self._process.poll()
            if self._status is not None:
                _kill_session(self._process.pid)
        return self._status

    @property
    def is_running(self) -> bool:
        return self._process is not None and self.ended is None

    def how_ended(self) -> str:
        """Return a sentence that says how the process exited, or an empty string while it runs."""
        if self.ended is None:
            return ""
        how = processes.describe_end(f"The {self.name}", self._process)
        # After a signal, the last line of the log is unrelated to the exit.
        return f"{how} Its log ends with: {self.last_words()}" if self.ended > 0 else how

    def tell_to_end(self) -> None:
        if self._process is not None and self.is_running:
            processes.send(self._process.pid, signal.SIGTERM)

    def kill(self) -> None:
        """Kill the process and all processes that it started."""
        if self._process is not None and self.is_running:
            processes.send(self._process.pid, signal.SIGKILL)
            _kill_session(self._process.pid)
            self._process.wait()

    def last_words(self) -> str:
        """Return the last line that the process logged since it was started."""
        text = self.log.read_bytes()[self._log_begin :].decode(errors="replace")
        lines = [line for line in text.splitlines() if line.strip()]
        return lines[-1].strip() if lines else "it logged nothing"


def _kill_session(leader: int) -> None:
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:  # the process has exited, or has not started its session yet
        return


def end_leftovers(data: Path) -> None:
    """Stop the processes that a killed supervisor of this data folder left behind."""

    def matches(pid: int) -> bool:
        # In /proc, a fork shows the environment that the supervisor was started with.
        return pid != os.getpid() and processes.has_variable(pid, SUPERVISED, str(data))

    processes.end(processes.find(matches), (signal.SIGTERM, 3.0))


def trim_logs(folder: Path) -> None:
    """Move the content of each large log to another file. The program continues to write to the emptied log."""
    for log in folder.glob("*.log"):
        if log.stat().st_size > _KEPT_LOG_BYTES:
            older = log.with_suffix(".log.1")
            try:
                shutil.copyfile(log, older)
            except OSError:  # a full disk must not stop the supervisor
                older.unlink(missing_ok=True)
            else:
                os.truncate(log, 0)
