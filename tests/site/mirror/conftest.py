"""A local bare repository, a mirror of the catalogue in it, and helpers that read the repository with Git."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from scriptsmith_site.integrations.mirror import services
from scriptsmith_site.integrations.mirror.queue import queue_publication
from scriptsmith_site.integrations.mirror.writing import write_mirror
from scriptsmith_site.integrations.notifications.telling import tell_people
from scriptsmith_site.integrations.outbox.events import distribution
from scriptsmith_site.models import Mirror

GIT = shutil.which("git")
_WHO = ("-c", "user.name=Gita Hub", "-c", "user.email=gita@example.org")


class Repository:
    """A repository, read with Git itself. The test is skipped with a reason if Git is not installed."""

    def __init__(self, path: Path) -> None:
        if GIT is None:
            pytest.skip("there is no git on this machine")
        self.path = path
        self.git("init", "--quiet", "--bare", "--initial-branch=main", str(path), inside=False)

    def git(self, *words: str, inside: bool = True, cwd: Path | None = None) -> str:
        """Run a Git command and return its output."""
        where = ("--git-dir", str(self.path)) if inside and cwd is None else ()
        done = subprocess.run(
            [GIT, *_WHO, *where, *words],
            cwd=cwd,
            capture_output=True,
            check=False,
            env={
                "HOME": str(self.path.parent),
                "GIT_CONFIG_NOSYSTEM": "1",
                "PATH": "/usr/bin:/bin",
            },
        )
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()

    def check(self) -> None:
        """Check the repository with `git fsck`."""
        self.git("fsck", "--strict", "--full")

    @property
    def log(self) -> list[str]:
        """Return the subject of each commit, oldest first."""
        return self.git("log", "--reverse", "--format=%s", "main").splitlines()

    @property
    def files(self) -> list[str]:
        """Return the paths in the newest commit."""
        return self.git("ls-tree", "-r", "--name-only", "main").splitlines()

    def read(self, path: str, commit: str = "main") -> str:
        return self.git("show", f"{commit}:{path}")

    def clone(self, to: Path) -> Path:
        """Create a working copy for commits by another author."""
        self.git("clone", "--quiet", str(self.path), str(to), inside=False)
        return to

    def commit(self, clone: Path, files: dict[str, str], message: str, *, push: str) -> str:
        """Commit these files as another author, push them to the `push` branch, and return the hash."""
        for name, text in files.items():
            path = clone / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.git("add", "-A", cwd=clone)
        self.git("commit", "--quiet", "-m", message, cwd=clone)
        self.git("push", "--quiet", "origin", f"HEAD:{push}", cwd=clone)
        return self.git("rev-parse", "HEAD", cwd=clone).strip()


@pytest.fixture
def repository(settings: Settings, tmp_path: Path) -> Repository:
    settings.LAYOUT = replace(settings.LAYOUT, data=tmp_path / "data")
    settings.SCRIPTSMITH_MIRROR_FOLDER = str(tmp_path / "repositories")
    settings.SCRIPTSMITH_URL = "https://scripts.example.org"
    (tmp_path / "repositories").mkdir()
    return Repository(tmp_path / "repositories" / "catalogue.git")


@pytest.fixture
def set_up(administrator: User, repository: Repository) -> Callable[[], Mirror]:
    def make() -> Mirror:
        distribution.distribute(tell_people, queue_publication)  # earlier events
        return services.set_up(services.Values(address=str(repository.path)), by=administrator)

    return make


def work() -> int:
    """Run the worker's periodic tasks, and return the number of commits written."""
    distribution.distribute(tell_people, queue_publication)
    return write_mirror()


class Killed(BaseException):
    """Raised to simulate a killed worker, because no handler of the product catches it."""


def die(*_given: object, **_named: object) -> None:
    raise Killed
