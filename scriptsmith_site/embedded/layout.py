"""The paths of everything that a running ScriptSmith stores outside its source tree.

This module only computes paths and addresses. It creates no files, and needs neither Django nor a server.
"""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

DATABASE = "scriptsmith"
ROLE = "scriptsmith"

# A Unix socket's path has at most 107 bytes. The longest name below a socket folder has 18.
_LONGEST_SOCKET_FOLDER = 88
_PLAIN_PATH = re.compile(r"[\w/.-]+", re.ASCII)


@dataclass(frozen=True)
class Layout:
    """The paths that belong to one data folder.

    For root, PostgreSQL runs as an ordinary OS user, who may have no access to the data folder. Its files are then in a
    separate folder below `outside`.
    """

    data: Path
    outside: Path = Path("/var/lib/scriptsmith")

    @classmethod
    def from_environment(cls, base: Path) -> Layout:
        """Return the layout of the folder that SCRIPTSMITH_DATA names (relative to `base`), or else `base`/.data.

        As root, PostgreSQL's files are in the folder that SCRIPTSMITH_POSTGRES_FOLDER names.
        """
        data = base / Path(os.environ.get("SCRIPTSMITH_DATA") or ".data").expanduser()
        outside = os.environ.get("SCRIPTSMITH_POSTGRES_FOLDER")
        return cls(data.resolve(), Path(outside).resolve()) if outside else cls(data.resolve())

    @property
    def key(self) -> str:
        """A short hash of the data folder's path, which names its files outside it."""
        return hashlib.sha256(os.fsencode(self.data)).hexdigest()[:16]

    @property
    def runs_as_root(self) -> bool:
        return os.geteuid() == 0

    @property
    def postgres_home(self) -> Path:
        """The folder that holds PostgreSQL's own folders."""
        return self.outside / self.key if self.runs_as_root else self.data

    @property
    def postgres_data(self) -> Path:
        return self.postgres_home / "postgres"

    @property
    def postgres_sockets(self) -> Path:
        return self.postgres_home / "sockets" if self.runs_as_root else self.sockets

    @property
    def sockets(self) -> Path:
        """The folder of our own sockets, which is in the data folder if its path is short enough.

        Otherwise, it is in a fixed location rather than in TMPDIR, so that all shells use the same folder.
        """
        inside = self.data / "sockets"
        fits = len(os.fsencode(inside)) <= _LONGEST_SOCKET_FOLDER
        if fits and _PLAIN_PATH.fullmatch(str(inside)):
            return inside
        return Path(f"/tmp/scriptsmith-{os.geteuid()}-{self.key}")

    @property
    def redis_data(self) -> Path:
        return self.data / "redis"

    @property
    def redis_socket(self) -> Path:
        return self.sockets / "redis.sock"

    @property
    def logs(self) -> Path:
        return self.data / "logs"

    @property
    def users_lock(self) -> Path:
        """Held shared by every process that uses the servers."""
        return self.data / "users.lock"

    @property
    def change_lock(self) -> Path:
        """Held by the process that is starting, migrating or stopping the servers."""
        return self.data / "change.lock"

    @property
    def supervisor_lock(self) -> Path:
        """Held by the supervisor, so that a data folder has only one."""
        return self.data / "supervisor.lock"

    @property
    def demo_model(self) -> Path:
        """The file with the demo model's address, `{"port": ..., "pid": ...}`, written by the demo model."""
        return self.data / "demo-model.json"

    @property
    def local_models(self) -> Path:
        """The folder of model files from `make local-model`, and of the announcements of their servers."""
        return self.data / "local-models"

    @property
    def secret_key(self) -> Path:
        return self.data / "secret-key"

    @property
    def schedule(self) -> Path:
        """The state of the worker's scheduler, kept across restarts."""
        return self.data / "schedule"

    @property
    def worker_ready(self) -> Path:
        """A file that the worker creates when it is ready."""
        return self.data / "worker-ready"

    def database_settings(self) -> dict[str, str]:
        """Return the embedded database as an entry of Django's DATABASES."""
        return {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": DATABASE,
            "USER": ROLE,
            "HOST": str(self.postgres_sockets),
        }

    def database_url(self) -> str:
        """Return the embedded database as a value for DATABASE_URL."""
        return f"postgresql://{ROLE}@/{DATABASE}?host={quote(str(self.postgres_sockets))}"

    def redis_url(self) -> str:
        """Return the embedded Redis as a value for Celery's broker URL."""
        return f"redis+socket://{self.redis_socket}"


def redis_client_url(broker_url: str) -> str:
    """Return the URL of the same Redis for redis-py, whose URLs of Unix sockets and databases differ from Celery's."""
    url = re.sub(r"^redis\+socket:", "unix:", broker_url)
    return url.replace("?virtual_host=", "?db=") if url.startswith("unix:") else url
