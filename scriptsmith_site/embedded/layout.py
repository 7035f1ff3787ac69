"""The paths of all files and sockets that ScriptSmith creates outside its source tree.

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

# A Unix socket's path can have at most 107 bytes. The longest file name in a socket folder has 18 bytes.
_LONGEST_SOCKET_FOLDER = 88
_PLAIN_PATH = re.compile(r"[\w/.-]+", re.ASCII)


@dataclass(frozen=True)
class Layout:
    """The paths that belong to one data folder.

    If ScriptSmith runs as root, PostgreSQL runs as an ordinary OS user, which may have no access to the data folder.
    PostgreSQL's files are then in a separate folder below `outside`.
    """

    data: Path
    outside: Path = Path("/var/lib/scriptsmith")

    @classmethod
    def from_environment(cls, base: Path) -> Layout:
        """Return the layout of SCRIPTSMITH_DATA, which may be relative to `base`. The default is `base`/.data.

        If ScriptSmith runs as root, SCRIPTSMITH_POSTGRES_FOLDER sets the folder for PostgreSQL's files.
        """
        data = base / Path(os.environ.get("SCRIPTSMITH_DATA") or ".data").expanduser()
        outside = os.environ.get("SCRIPTSMITH_POSTGRES_FOLDER")
        return cls(data.resolve(), Path(outside).resolve()) if outside else cls(data.resolve())

    @property
    def key(self) -> str:
        """A short hash of the data folder's path. It names the folder's files that are stored elsewhere."""
        return hashlib.sha256(os.fsencode(self.data)).hexdigest()[:16]

    @property
    def runs_as_root(self) -> bool:
        return os.geteuid() == 0

    @property
    def postgres_home(self) -> Path:
        """The folder that contains PostgreSQL's data folder."""
        return self.outside / self.key if self.runs_as_root else self.data

    @property
    def postgres_data(self) -> Path:
        return self.postgres_home / "postgres"

    @property
    def postgres_sockets(self) -> Path:
        return self.postgres_home / "sockets" if self.runs_as_root else self.sockets

    @property
    def sockets(self) -> Path:
        """The folder of this product's sockets. It is in the data folder if that path is short and has no special
        characters.

        Otherwise, it is in /tmp rather than TMPDIR, so that all shells use the same folder.
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
        """The lock file that every process shares while it uses the servers."""
        return self.data / "users.lock"

    @property
    def change_lock(self) -> Path:
        """The lock file of the process that is starting, migrating or stopping the servers."""
        return self.data / "change.lock"

    @property
    def supervisor_lock(self) -> Path:
        """The supervisor's lock file, which ensures that a data folder has only one supervisor."""
        return self.data / "supervisor.lock"

    @property
    def demo_model(self) -> Path:
        """The file in which the demo model announces its address as `{"port": ..., "pid": ...}`."""
        return self.data / "demo-model.json"

    @property
    def local_models(self) -> Path:
        """The folder with the model files from `make local-model` and the announcements of the model servers."""
        return self.data / "local-models"

    @property
    def secret_key(self) -> Path:
        return self.data / "secret-key"

    @property
    def schedule(self) -> Path:
        """The state of the worker's scheduler, which persists across restarts."""
        return self.data / "schedule"

    @property
    def worker_ready(self) -> Path:
        """A file that the worker creates when it is ready."""
        return self.data / "worker-ready"

    def database_settings(self) -> dict[str, str]:
        """Return the entry for the embedded database in Django's DATABASES."""
        return {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": DATABASE,
            "USER": ROLE,
            "HOST": str(self.postgres_sockets),
        }

    def database_url(self) -> str:
        """Return the DATABASE_URL of the embedded database."""
        return f"postgresql://{ROLE}@/{DATABASE}?host={quote(str(self.postgres_sockets))}"

    def redis_url(self) -> str:
        """Return Celery's broker URL for the embedded Redis."""
        return f"redis+socket://{self.redis_socket}"


def redis_client_url(broker_url: str) -> str:
    """Convert a Celery broker URL to a URL for redis-py, whose format differs for Unix sockets and database numbers."""
    url = re.sub(r"^redis\+socket:", "unix:", broker_url)
    return url.replace("?virtual_host=", "?db=") if url.startswith("unix:") else url
