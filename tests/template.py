"""Create the migrated database that is copied for tests. A dump is cached under a hash of the code that defines the
schema."""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import django
import psycopg
from django.core.management import call_command

from scriptsmith_site.embedded.servers.binaries import find_postgres

NAME = "scriptsmith_template"
_PATIENCE = 300.0  # seconds; enough for multiple test runs on a small machine
_ROOT = Path(__file__).parents[1]
_KEPT = _ROOT / ".pytest_cache" / "template"
# The migrated database depends on these folders and files.
_SHAPES = {"migrations", "models"} | {
    f"{name}.py" for name in ("apps", "create_models", "roles", "settings", "types")
}
_APPS = ("core", "catalog", "pipeline", "review", "scriptsmith_site")


def ready_file() -> Path:
    return Path(os.environ["SCRIPTSMITH_DATA"]) / "template-is-ready"


def wait_for_template() -> None:
    """Wait until the database can be copied, or raise TimeoutError."""
    deadline = time.monotonic() + _PATIENCE
    while not ready_file().exists():
        if time.monotonic() > deadline:
            raise TimeoutError("the database for the tests was not made")
        time.sleep(0.05)


def main() -> None:
    url = urlsplit(os.environ["DATABASE_URL"])
    with psycopg.connect(url.geturl(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {NAME}")
    own = url._replace(path=f"/{NAME}").geturl()
    os.environ["DATABASE_URL"] = own
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    django.setup()
    kept = _KEPT / f"{_digest()}.dump"
    if kept.exists() and _restore(kept, own):
        call_command("accept_secret_key", stdout=io.StringIO())
    else:
        call_command("migrate", verbosity=0)
    django.db.connections.close_all()
    if not kept.exists():
        _keep(kept, own)
    ready_file().touch()


def _digest() -> str:
    """Return a hash of all files that affect the migrated database, including the requirements."""
    found = hashlib.sha256()
    for path in _sources():
        found.update(f"{path.relative_to(_ROOT)}\n".encode() + path.read_bytes())
    return found.hexdigest()[:32]


def _sources() -> Iterator[Path]:
    yield from (_ROOT / "requirements.txt", _ROOT / "tests" / "settings.py")
    for app in _APPS:
        for path in sorted((_ROOT / app).rglob("*.py")):
            rooms = path.relative_to(_ROOT / app).parts
            if not _SHAPES.isdisjoint(rooms):
                yield path


def _restore(kept: Path, url: str) -> bool:
    """Load the dump into the empty database. If the dump does not fit, return False and change nothing."""
    command = [find_postgres() / "bin" / "pg_restore", "--single-transaction", "--no-owner"]
    done = subprocess.run([*command, "--dbname", url, kept], capture_output=True, check=False)
    return done.returncode == 0


def _keep(kept: Path, url: str) -> None:
    """Write the dump atomically, because another test run may read it, and delete older dumps."""
    made = kept.with_suffix(f".{os.getpid()}")
    kept.parent.mkdir(parents=True, exist_ok=True)
    command = [find_postgres() / "bin" / "pg_dump", "--format=custom", "--compress=0"]
    # This table contains a hash of the secret key, which differs between test runs.
    command += ["--exclude-table-data=scriptsmith_site_installation"]
    done = subprocess.run([*command, "--file", made, url], capture_output=True, check=False)
    if done.returncode:
        made.unlink(missing_ok=True)
        return
    made.rename(kept)
    with suppress(FileNotFoundError):  # another test run may delete the same files
        for old in sorted(kept.parent.glob("*.dump"), key=lambda one: one.stat().st_mtime)[:-4]:
            old.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
