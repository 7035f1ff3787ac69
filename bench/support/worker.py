"""A Celery worker process for benchmarks, and measurements of its memory and CPU time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.site_process import ROOT


class WorkerProcess:
    """A worker with a scheduler, both queues and this many threads, in its own process group."""

    def __init__(
        self, environment: dict[str, str], *, threads: int, tree: Path | None = None
    ) -> None:
        """Use the checkout `tree` with its own .venv, or this tree by default."""
        self._tree = tree or ROOT
        self._python = str(tree / ".venv/bin/python") if tree else sys.executable
        self._environment = environment | {"SCRIPTSMITH_WORKER_THREADS": str(threads)}
        self._folder = tempfile.TemporaryDirectory(prefix="scriptsmith-worker-")
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """Return the process ID. The worker must have been started."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start the worker and wait until it accepts work. Raises RuntimeError if the worker does not start."""
        command = [self._python, "-m", "celery", "-A", "scriptsmith_site", "worker", "-B"]
        command += ["--schedule", str(Path(self._folder.name) / "schedule"), "--pool", "threads"]
        command += ["--queues", "interactive,campaign", "--loglevel", "INFO"]
        # Use a different host name, because another worker may run on this machine.
        command += ["--without-gossip", "--without-mingle", "--hostname", "bench@%h"]
        log = Path(self._folder.name) / "worker.log"
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                command,
                cwd=self._tree,
                env=self._environment,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        _wait_until_ready(self._process, log)

    def kill(self) -> None:
        """Kill the worker and its scheduler with SIGKILL."""
        assert self._process is not None
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def stop(self) -> None:
        """Stop the worker if it is running, and wait until it has exited."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            self._process.wait(timeout=60)
        self._folder.cleanup()


@contextmanager
def worker(
    environment: dict[str, str], *, threads: int, tree: Path | None = None
) -> Iterator[WorkerProcess]:
    """Run a worker of this tree or another tree during the block."""
    process = WorkerProcess(environment, threads=threads, tree=tree)
    try:
        process.start()
        yield process
    finally:
        process.stop()


def memory_of(pid: int) -> float:
    """Return the process's proportional set size (PSS) in MiB."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    raise LookupError(pid)


def processor_seconds(pid: int) -> float:
    """Return the CPU seconds that the process has used so far, including its reaped children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(int(ticks) for ticks in fields[11:15]) / os.sysconf("SC_CLK_TCK")


def _wait_until_ready(process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 180
    while b" ready." not in log.read_bytes():
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(log.read_text(errors="replace"))
        time.sleep(0.1)
