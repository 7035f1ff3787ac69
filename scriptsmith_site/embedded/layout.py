"""Where everything lives that a running ScriptSmith keeps outside its source tree.

Pure: computes paths and addresses, makes nothing, needs neither Django nor a server.
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

# A Unix socket's path has 107 bytes at most; the longest name below a socket folder has 18.
_LONGEST_SOCKET_FOLDER = 88
_PLAIN_PATH = re.compile(r"[\w/.-]+", re.ASCII)


@dataclass(frozen=True)
class Layout:
    """The paths that belong to one data folder.

    As root, PostgreSQL runs as an ordinary OS user, who may not be able to reach the data folder:
    its files then live in a folder of their own below `outside`.
    """

    data: Path
    outside: Path = Path("/var/lib/scriptsmith")

    @classmethod
    def from_environment(cls, base: Path) -> Layout:
        """The data folder that SCRIPTSMITH_DATA names (relative to `base`), else `base`/.data.

        SCRIPTSMITH_POSTGRES_FOLDER names the place for PostgreSQL's files that root needs.
        """
        data = base / Path(os.environ.get("SCRIPTSMITH_DATA") or ".data").expanduser()
        outside = os.environ.get("SCRIPTSMITH_POSTGRES_FOLDER")
        return cls(data.resolve(), Path(outside).resolve()) if outside else cls(data.resolve())

    @property
    def key(self) -> str:
        """A short name of this data folder, for what lives outside it."""
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
        """The folder of our own sockets: inside the data folder where its path fits an address.

        The other place is fixed and not the one TMPDIR names: two shells must find the same.
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
        """Held shared by everyone who uses the servers."""
        return self.data / "users.lock"

    @property
    def change_lock(self) -> Path:
        """Held by the one who is starting, migrating or stopping the servers."""
        return self.data / "change.lock"

    @property
    def supervisor_lock(self) -> Path:
        """Held by the one supervisor that a data folder may have."""
        return self.data / "supervisor.lock"

    @property
    def demo_model(self) -> Path:
        """The demo model's address, `{"port": ..., "pid": ...}`, written by the demo model."""
        return self.data / "demo-model.json"

    @property
    def local_models(self) -> Path:
        """The model files that `make local-model` fetched, and the announcements of the servers that serve them."""
        return self.data / "local-models"

    @property
    def secret_key(self) -> Path:
        return self.data / "secret-key"

    @property
    def schedule(self) -> Path:
        """What the worker's scheduler remembers between two starts."""
        return self.data / "schedule"

    @property
    def worker_ready(self) -> Path:
        """Left by the worker when it takes up work."""
        return self.data / "worker-ready"

    def database_settings(self) -> dict[str, str]:
        """The embedded database as an entry of Django's DATABASES."""
        return {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": DATABASE,
            "USER": ROLE,
            "HOST": str(self.postgres_sockets),
        }

    def database_url(self) -> str:
        """The embedded database in the form that DATABASE_URL has."""
        return f"postgresql://{ROLE}@/{DATABASE}?host={quote(str(self.postgres_sockets))}"

    def redis_url(self) -> str:
        """The embedded Redis in the form that Celery's broker URL has."""
        return f"redis+socket://{self.redis_socket}"


def redis_client_url(broker_url: str) -> str:
    """The same Redis for redis-py, which spells a Unix socket and its database differently from Celery."""
    url = re.sub(r"^redis\+socket:", "unix:", broker_url)
    return url.replace("?virtual_host=", "?db=") if url.startswith("unix:") else url
