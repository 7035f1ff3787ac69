"""The programs under the supervisor, each in its own session, which end soon after the supervisor ends."""

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
    """The program of a child process, and how many seconds it has to finish after SIGTERM.

    A program with a `ready` file does no work before it creates the file, so until then it gets less time.
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
        """The seconds to wait for the process to exit, which are fewer if it is not ready and has no work to finish."""
        ready = self._program.ready
        if ready is not None and not ready.exists():
            return min(self._program.grace, _UNREADY_GRACE)
        return self._program.grace

    def start(self, output: IO[bytes] | None = None) -> None:
        """Start the program with its output in the log. Standard output goes to `output` if given."""
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
        """The exit status of a process that has ended together with all processes it started, or None."""
        if self._process is not None and self._status is None:
            self._status = self._process.poll()
            if self._status is not None:
                _kill_session(self._process.pid)
        return self._status

    @property
    def is_running(self) -> bool:
        return self._process is not None and self.ended is None

    def how_ended(self) -> str:
        """Return a sentence on how the process ended, or an empty string while it runs."""
        if self.ended is None:
            return ""
        how = processes.describe_end(f"The {self.name}", self._process)
        # After a signal, the last line of the log is unrelated to the exit.
        return f"{how} Its log ends with: {self.last_words()}" if self.ended > 0 else how

    def tell_to_end(self) -> None:
        if self._process is not None and self.is_running:
            processes.send(self._process.pid, signal.SIGTERM)

    def kill(self) -> None:
        """Kill the process and all processes it started."""
        if self._process is not None and self.is_running:
            processes.send(self._process.pid, signal.SIGKILL)
            _kill_session(self._process.pid)
            self._process.wait()

    def last_words(self) -> str:
        """Return the last line of the log since it was started."""
        text = self.log.read_bytes()[self._log_begin :].decode(errors="replace")
        lines = [line for line in text.splitlines() if line.strip()]
        return lines[-1].strip() if lines else "it logged nothing"


def _kill_session(leader: int) -> None:
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:  # it has ended, or has just been forked and begun no session yet
        return


def end_leftovers(data: Path) -> None:
    """End the processes left behind by a supervisor of this data folder that was killed."""

    def matches(pid: int) -> bool:
        # In /proc, a fork has the environment with which the supervisor was started.
        return pid != os.getpid() and processes.has_variable(pid, SUPERVISED, str(data))

    processes.end(processes.find(matches), (signal.SIGTERM, 3.0))


def trim_logs(folder: Path) -> None:
    """Move the content of a long log to another file. Its writer continues in the same file."""
    for log in folder.glob("*.log"):
        if log.stat().st_size > _KEPT_LOG_BYTES:
            older = log.with_suffix(".log.1")
            try:
                shutil.copyfile(log, older)
            except OSError:  # a full disk must not end the supervisor
                older.unlink(missing_ok=True)
            else:
                os.truncate(log, 0)
