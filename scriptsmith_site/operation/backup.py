"""Backup and restore: the database, the secret key and the kept files, in one file.

The file is a tar: `manifest.json` first, so that it can be refused before anything is read, then
`database.dump` (pg_dump's custom format, consistent though people work on), `secret-key`, `files/`.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from django.conf import settings
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from scriptsmith_site.embedded.binaries import find_postgres
from scriptsmith_site.embedded.errors import CannotStart

FORMAT = 1
_MANIFEST, _DUMP, _KEY, _FILES = "manifest.json", "database.dump", "secret-key", "files"

_VARIABLES = {
    "host": "PGHOST",
    "port": "PGPORT",
    "user": "PGUSER",
    "password": "PGPASSWORD",
    "dbname": "PGDATABASE",
    "sslmode": "PGSSLMODE",
    "sslrootcert": "PGSSLROOTCERT",
    "sslcert": "PGSSLCERT",
    "sslkey": "PGSSLKEY",
}

# Everything that is ours goes, extensions stay: making them may need a superuser.
_EMPTY_THE_DATABASE = """
DO $$
DECLARE name text;
BEGIN
    FOR name IN SELECT format('TABLE %s', oid::regclass) FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
    UNION ALL SELECT format('FUNCTION %s', oid::regprocedure) FROM pg_proc
        WHERE pronamespace = 'public'::regnamespace
        AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e')
    LOOP
        EXECUTE format('DROP %s CASCADE', name);
    END LOOP;
END
$$;
"""


class CannotBackUp(Exception):
    """Backup or restore was refused or failed, and the text says why; nothing was changed."""


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What a backup says of itself."""

    format: int
    product: str
    made_at: str
    migrations: list[str]  # "app.name" of all that were applied


def make_backup(target: Path) -> None:
    """One new file, readable by its owner only. Raises CannotBackUp."""
    if target.exists():
        raise CannotBackUp(f"{target} exists already")
    manifest = Manifest(
        format=FORMAT,
        product=settings.VERSION,
        made_at=timezone.now().isoformat(timespec="seconds"),
        migrations=applied_migrations(),
    )
    unfinished = target.with_name(f".{target.name}.unfinished")
    try:
        with tempfile.TemporaryDirectory(dir=target.parent) as folder:
            dump = Path(folder) / _DUMP
            _run([*_tool("pg_dump"), "--format=custom", "--schema=public", "--file", str(dump)])
            descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "wb") as raw, tarfile.open(fileobj=raw, mode="w") as tar:
                _add_text(tar, _MANIFEST, json.dumps(asdict(manifest), indent=2))
                tar.add(dump, _DUMP)
                _add_text(tar, _KEY, settings.SECRET_KEY)
                if settings.MEDIA_ROOT.is_dir():
                    tar.add(settings.MEDIA_ROOT, _FILES)
                raw.flush()
                os.fsync(raw.fileno())
        unfinished.rename(target)
    except OSError as error:
        raise CannotBackUp(f"{target} can't be written: {error.strerror}") from error
    finally:
        unfinished.unlink(missing_ok=True)


def restore_backup(source: Path, *, replace: bool) -> Manifest:
    """Database, secret key and files are those of the backup; an older one needs `migrate` then.

    All or nothing for the database: what goes wrong leaves it as it was. `replace` allows to
    replace what is there. Raises CannotBackUp.
    """
    try:
        with tarfile.open(source) as tar, _scratch_folder() as folder:
            manifest = _read_manifest(tar)
            refuse_newer(manifest, known=known_migrations())
            _require_alone()
            if not replace and _has_data():
                raise CannotBackUp("there is data already: --yes replaces all of it")
            dump = Path(folder) / _DUMP
            with _member(tar, _DUMP) as packed, dump.open("wb") as file:
                shutil.copyfileobj(packed, file)
            _replace_database(dump)
            _restore_files(tar)
            with _member(tar, _KEY) as key:
                _write_key(key.read())
    except (OSError, tarfile.TarError) as error:
        raise CannotBackUp(f"{source} can't be read: {error}") from error
    return manifest


def applied_migrations() -> list[str]:
    """Those of the database, as "app.name", sorted."""
    applied = MigrationRecorder(connection).applied_migrations()
    return sorted(f"{app}.{name}" for app, name in applied)


def known_migrations() -> set[str]:
    """Those that come with this version of the product."""
    loader = MigrationLoader(None)
    return {f"{app}.{name}" for app, name in loader.disk_migrations or {}}


def refuse_newer(manifest: Manifest, *, known: set[str]) -> None:
    """Raises CannotBackUp where the backup's tables are newer than this version of the product."""
    if manifest.format > FORMAT or (unknown := sorted(set(manifest.migrations) - known)):
        missing = "" if manifest.format > FORMAT else f" ({', '.join(unknown[:3])})"
        raise CannotBackUp(
            f"a newer ScriptSmith made this backup, {manifest.product}{missing}: install that one"
        )


def _scratch_folder() -> tempfile.TemporaryDirectory[str]:
    # The system's temporary folder may be memory, and too small for a database.
    return tempfile.TemporaryDirectory(dir=settings.LAYOUT.data)


def _read_manifest(tar: tarfile.TarFile) -> Manifest:
    with _member(tar, _MANIFEST) as file:
        try:
            return Manifest(**json.loads(file.read()))
        except (TypeError, ValueError):
            raise CannotBackUp(
                "this is no backup of ScriptSmith: its manifest can't be read"
            ) from None


def _member(tar: tarfile.TarFile, name: str) -> IO[bytes]:
    try:
        file = tar.extractfile(name)
    except KeyError:
        file = None
    if file is None:
        raise CannotBackUp(f"this is no backup of ScriptSmith: {name} is missing")
    return file


def _require_alone() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            " AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )
        if cursor.fetchone()[0]:
            raise CannotBackUp("other programs use the database: stop ScriptSmith first")


def _has_data() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass('auth_user')")
        if cursor.fetchone()[0] is None:
            return False
        cursor.execute("SELECT EXISTS (SELECT FROM auth_user)")
        return bool(cursor.fetchone()[0])


def _replace_database(dump: Path) -> None:
    """In one transaction: empty it, and fill it from the dump."""
    with connection.cursor() as cursor:
        cursor.execute("CREATE EXTENSION IF NOT EXISTS vector")
    connection.close()
    script = dump.with_suffix(".sql")
    # In two steps: a dump that breaks off must not reach the database at all.
    unpack = [*_tool("pg_restore"), "--no-owner", "--no-privileges", "--schema=public"]
    _run([*unpack, f"--file={script}", str(dump)])
    load = [*_tool("psql"), "--no-psqlrc", "--quiet", "--single-transaction"]
    load += ["--set=ON_ERROR_STOP=1", f"--command={_EMPTY_THE_DATABASE}", f"--file={script}"]
    _run(load)


def _restore_files(tar: tarfile.TarFile) -> None:
    """Plain files only, each below the folder. By hand: tarfile's own filter is younger than Python 3.11.0."""
    root = Path(settings.MEDIA_ROOT).resolve()
    for member in tar.getmembers():
        if not (member.isfile() and member.name.startswith(f"{_FILES}/")):
            continue
        target = (root / member.name.removeprefix(f"{_FILES}/")).resolve()
        if not target.is_relative_to(root):
            raise CannotBackUp(f"this is no backup of ScriptSmith: {member.name} leads out of it")
        target.parent.mkdir(parents=True, exist_ok=True)
        with _member(tar, member.name) as source, target.open("wb") as file:
            shutil.copyfileobj(source, file)


def _write_key(key: bytes) -> None:
    """The backup's key, so that sessions go on; one from the environment stays."""
    if os.environ.get("SCRIPTSMITH_SECRET_KEY"):
        return
    path: Path = settings.LAYOUT.secret_key
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(key)
    fresh.replace(path)


def _add_text(tar: tarfile.TarFile, name: str, text: str) -> None:
    data = text.encode()
    member = tarfile.TarInfo(name)
    member.size, member.mode, member.mtime = len(data), 0o600, int(timezone.now().timestamp())
    tar.addfile(member, io.BytesIO(data))


def _tool(name: str) -> list[str]:
    """A client program of PostgreSQL, ours first: it may not be older than the server."""
    try:
        return [str(find_postgres() / "bin" / name)]
    except CannotStart:
        on_path = shutil.which(name)
    if on_path is None:
        raise CannotBackUp(f"{name} is not installed here: install PostgreSQL's client programs")
    return [on_path]


def _run(command: list[str]) -> None:
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, **connection_environment(connection.get_connection_params())},
        text=True,
        check=False,
    )
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or ["no reason given"]
        raise CannotBackUp(f"{Path(command[0]).name} failed: {last[0]}")


def connection_environment(parameters: Mapping[str, object]) -> dict[str, str]:
    """Parameters of a connection as libpq's programs read them; no password on a command line."""
    return {
        variable: str(parameters[name])
        for name, variable in _VARIABLES.items()
        if parameters.get(name)
    }
