"""A real Celery worker process for measurements, and what memory it takes."""

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


@contextmanager
def worker(environment: dict[str, str], *, threads: int) -> Iterator[int]:
    """One worker with its scheduler, both queues and so many threads; its process id once it is ready."""
    with tempfile.TemporaryDirectory(prefix="scriptsmith-worker-") as folder:
        command = [sys.executable, "-m", "celery", "-A", "scriptsmith_site", "worker", "-B"]
        command += ["--schedule", str(Path(folder) / "schedule"), "--pool", "threads"]
        command += ["--queues", "interactive,campaign", "--loglevel", "INFO"]
        # A name of its own: it may be the second one on this machine.
        command += ["--without-gossip", "--without-mingle", "--hostname", "bench@%h"]
        log = Path(folder) / "worker.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=environment | {"SCRIPTSMITH_WORKER_THREADS": str(threads)},
                stdout=output,
                stderr=output,
            )
        try:
            _wait_until_ready(process, log)
            yield process.pid
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=60)


def memory_of(pid: int) -> float:
    """The process's proportional share of memory, in MiB."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    raise LookupError(pid)


def processor_seconds(pid: int) -> float:
    """What the process has used of all processors so far, with the children that it has waited for."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(int(ticks) for ticks in fields[11:15]) / os.sysconf("SC_CLK_TCK")


def _wait_until_ready(process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 180
    while b" ready." not in log.read_bytes():
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(log.read_text(errors="replace"))
        time.sleep(0.1)
