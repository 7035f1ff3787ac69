from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from scriptsmith_site.embedded.folders import make_data_folder
from scriptsmith_site.embedded.layout import Layout
from scriptsmith_site.embedded.servers.postgres import Postgres
from scriptsmith_site.embedded.supervision import processes

ROOT = Path(__file__).resolve().parents[3]


class Place:
    """A separate data folder and the processes that use it."""

    def __init__(self, folder: Path, outside: Path) -> None:
        self.folder = folder
        self.layout = Layout(folder / "data", outside=outside)
        self.environment = {
            name: value
            for name, value in os.environ.items()
            if name not in ("DATABASE_URL", "REDIS_URL", "PORT")
        } | {
            "SCRIPTSMITH_DATA": str(self.layout.data),
            "SCRIPTSMITH_POSTGRES_FOLDER": str(self.layout.outside),
            "DJANGO_SETTINGS_MODULE": "tests.site.embedded.small.settings",
        }

    def start(self, *arguments: str, **variables: str) -> subprocess.Popen[str]:
        """Start Python with these arguments in the project folder."""

        def listen() -> None:
            # A test run that was started in the background ignores Ctrl-C, and so would its children.
            signal.signal(signal.SIGINT, signal.SIG_DFL)

        return subprocess.Popen(
            [sys.executable, *arguments],
            cwd=ROOT,
            env=self.environment | variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=listen,  # noqa: PLW1509 - nothing but a system call in it
        )

    def alive(self, *words: str) -> list[int]:
        """Return the IDs of other processes whose command line contains this place and all given words."""

        def matches(pid: int) -> bool:
            line = " ".join(processes.command_line(pid))
            ours = (
                str(self.folder) in line
                or self.layout.key in line
                or processes.has_variable(pid, "SCRIPTSMITH_DATA", str(self.layout.data))
            )
            return pid != os.getpid() and ours and all(word in line for word in words)

        return processes.find(matches)


@contextmanager
def short_folder() -> Iterator[Path]:
    """Yield a folder whose path is short enough for a socket and which other users can traverse."""
    folder = Path(tempfile.mkdtemp(prefix="scriptsmith-place-", dir="/tmp"))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def outside() -> Iterator[Path]:
    """Yield the folder to which PostgreSQL is copied when running as root. All tests share it."""
    with short_folder() as folder:
        yield folder


@pytest.fixture(scope="session")
def used_folder(outside: Path) -> Iterator[Path]:
    """Yield a folder with a data folder that already has a database."""
    with short_folder() as folder:
        layout = Layout(folder / "data", outside=outside)
        make_data_folder(layout)
        server = Postgres(layout, durable=False)
        server.start()
        server.stop()
        yield folder


@pytest.fixture
def ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unset the addresses, so that the product starts its own servers."""
    for name in ("DATABASE_URL", "REDIS_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def place(outside: Path, ours: None) -> Iterator[Place]:
    """Yield a place without a database."""
    with short_folder() as folder:
        place = Place(folder, outside)
        yield place
        processes.end(place.alive())
        shutil.rmtree(place.layout.postgres_home, ignore_errors=True)


@pytest.fixture
def used_place(used_folder: Path, outside: Path, ours: None) -> Iterator[Place]:
    """Yield a place with a database. Tests share it one after another."""
    place = Place(used_folder, outside)
    yield place
    processes.end(place.alive())


@pytest.fixture
def until() -> Callable[[Callable[[], object]], None]:
    """Return a function that waits for a condition and fails after 60 s."""

    def wait(holds: Callable[[], object]) -> None:
        deadline = time.monotonic() + 60
        while not holds():
            assert time.monotonic() < deadline, "it did not come to hold within 60 s"
            time.sleep(0.1)

    return wait
