"""Run the product as `make run` starts it, with supervisor, web, worker and servers, in a temporary data folder.

The database is durable, as in production. Django in this process uses the same database.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import django

from bench.support.stage import forget_credentials
from bench.support.worker import memory_of, processor_seconds

ROOT = Path(__file__).resolve().parents[2]
_START_SECONDS = 300
_STOP_SECONDS = 60


@dataclass(frozen=True)
class Product:
    """A running ScriptSmith installation."""

    url: str
    supervisor: int  # process ID

    def web_memory(self) -> float:
        """Return the memory of all web processes in MiB. Shared pages count once."""
        return sum(memory_of(pid) for pid in self._web())

    def web_seconds(self) -> float:
        """Return the CPU time of the web processes in seconds."""
        return sum(processor_seconds(pid) for pid in self._web())

    def database_seconds(self) -> float:
        """Return the CPU time of PostgreSQL and all its sessions in seconds."""
        return sum(processor_seconds(pid) for pid in self._database())

    def worker_seconds(self) -> float:
        """Return the CPU time of the worker, which tallies new scores in the background, in seconds."""
        return sum(processor_seconds(pid) for pid in self.workers())

    def workers(self) -> list[int]:
        """Return the process IDs of the product's workers."""
        return [pid for pid in _below(self.supervisor) if "worker" in _command(pid)]

    def _web(self) -> list[int]:
        return [pid for pid in _below(self.supervisor) if "scriptsmith web" in _command(pid)]

    def _database(self) -> list[int]:
        return [pid for pid in _below(self.supervisor) if "postgres" in _command(pid)]


@contextmanager
def running(migrated_by: Path | None = None, **settings: str) -> Iterator[Product]:
    """Run the product during the block on a free port, with these settings and without its demo.

    `migrated_by` is a checkout with a .venv. Its migrations run before this tree's migrations.
    """
    forget_credentials()
    folder = Path(tempfile.mkdtemp(prefix="scriptsmith-bench-", dir="/tmp"))
    # If this process runs as root, PostgreSQL runs as another user, who must be able to traverse the folder.
    folder.chmod(0o711)
    for name in ("DATABASE_URL", "REDIS_URL"):
        os.environ.pop(name, None)
    port = _free_port()
    os.environ |= {
        "SCRIPTSMITH_DATA": str(folder / "data"),
        "SCRIPTSMITH_POSTGRES_FOLDER": str(folder / "outside"),
        "SCRIPTSMITH_DEMO": "False",
        "SCRIPTSMITH_EMBEDDER": "hashing",
        "PORT": str(port),
        "DJANGO_SETTINGS_MODULE": "scriptsmith_site.settings",
        **settings,
    }
    if migrated_by is not None:
        command = [migrated_by / ".venv/bin/python", "manage.py", "migrate", "--verbosity", "0"]
        subprocess.run(command, cwd=migrated_by, check=True)
    log = folder / "supervisor.log"
    with log.open("wb") as output:
        command = [sys.executable, "-m", "scriptsmith_site.embedded", "--with-parent"]
        process = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=output)
    try:
        url = f"http://127.0.0.1:{port}"
        _wait_until_ready(url, process, log)
        django.setup()
        yield Product(url, process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=_STOP_SECONDS)
        shutil.rmtree(folder, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_ready(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"{url}/healthz", timeout=2):
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(log.read_text(errors="replace"))


def _below(ancestor: int) -> list[int]:
    """Return the descendants of this process."""
    parents = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(status.parent.name)] = int(status.read_text().rpartition(")")[2].split()[1])
        except OSError:  # the process has exited
            continue
    found = [ancestor]
    for pid in found:
        found += [child for child, parent in parents.items() if parent == pid]
    return found[1:]


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""
