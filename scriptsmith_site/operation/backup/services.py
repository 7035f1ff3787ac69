"""Create, restore and test backups. Existing data is replaced only after the new data is verified."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from core.database.migration_history import missing_migrations
from core.kept_files import UNFINISHED, local_folder
from pipeline.models import Worker
from scriptsmith_site.embedded.commands import migrate
from scriptsmith_site.models import BackupEvent
from scriptsmith_site.operation.backup import database
from scriptsmith_site.operation.backup.archive import (
    DUMP,
    FILES,
    FORMAT,
    KEY,
    CannotBackUp,
    Manifest,
    pack,
    unpack,
)
from scriptsmith_site.operation.backup.encryption import Lock, Unlock, is_encrypted

Kind = BackupEvent.Kind


@dataclass(frozen=True)
class Compared:
    """The comparison of one table in a restore drill."""

    table: str
    rows: int
    expected_rows: int | None  # None if the backup has no count
    same: bool | None


@dataclass(frozen=True)
class Drill:
    """The result of a restore drill in a scratch database."""

    manifest: Manifest
    tables: list[Compared]

    @property
    def passed(self) -> bool:
        return all(table.same is not False for table in self.tables)


def files_elsewhere() -> str:
    """Return advice for stored files in a bucket, which backups do not include, or an empty string."""
    if local_folder() is not None:
        return ""
    return (
        f"Stored files (uploads and exports) are in {settings.SCRIPTSMITH_FILES} and not in "
        "the backup. Turn on versioning or replication there."
    )


def make_backup(target: Path, *, lock: Lock | None = None) -> None:
    """Create a backup file that only its owner can read. Raises CannotBackUp."""
    if target.exists():
        raise CannotBackUp(f"{target} already exists")
    unfinished = target.with_name(f".{target.name}.unfinished")
    try:
        with tempfile.TemporaryDirectory(dir=target.parent) as made_in:
            dump, archive = Path(made_in) / DUMP, Path(made_in) / "archive"
            with database.snapshot() as at:
                manifest = Manifest(
                    format=FORMAT,
                    product=settings.VERSION,
                    made_at=timezone.now().isoformat(timespec="seconds"),
                    migrations=applied_migrations(),
                    tables=database.count_tables(),
                )
                database.dump(dump, at=at)
            with archive.open("wb") as file:
                key, files = settings.SECRET_KEY, local_folder()
                pack(file, manifest, dump=dump, key=key, files=files, leave_out=UNFINISHED)
            dump.unlink()
            if lock is not None:
                lock.encrypt(archive, Path(made_in) / "encrypted")
                archive.unlink()
                archive = Path(made_in) / "encrypted"
            _write_durably(archive, unfinished)
        unfinished.rename(target)
    except OSError as error:
        raise CannotBackUp(f"{target} can't be written: {error.strerror or error}") from error
    finally:
        unfinished.unlink(missing_ok=True)
    _note(Kind.BACKUP, target, encrypted=lock is not None)


def restore_backup(
    source: Path, *, replace: bool, unverified: bool = False, unlock: Unlock | None = None
) -> Manifest:
    """Restore the database, the secret key and the files from a backup, and apply newer migrations.

    All parts are verified first. The existing data is kept until the new database works, and restored after an error.
    `replace` allows replacing existing data, and `unverified` allows format 1, which has no checksums. Raises
    CannotBackUp.
    """
    with _unpacked(source, unlock or Unlock()) as (manifest, folder):
        if not manifest.proves_itself and not unverified:
            raise CannotBackUp(
                "this backup was made by an earlier version, without checksums, so damage would not "
                "be noticed. Use --unverified to restore it anyway"
            )
        refuse_newer(manifest, known=known_migrations())
        refuse_half_migrated(manifest)
        database.require_alone()
        if not replace and _has_data():
            raise CannotBackUp("the database already has data. Use --yes to replace all of it")
        with _files_exchanged(folder):
            if database.may_make_databases():
                _exchange_database(manifest, folder / DUMP)
            else:
                database.replace_in_place(folder / DUMP, expected=manifest.tables)
                migrate()
    # The workers of the backup no longer exist, and a backup does not contain its own event.
    Worker.objects.all().delete()
    made_at = parse_datetime(manifest.made_at)
    _note(Kind.BACKUP, source, encrypted=is_encrypted(source), at=made_at)
    _note(Kind.RESTORE, source)
    return manifest


def drill_backup(source: Path, *, unlock: Unlock | None = None) -> Drill:
    """Restore into a scratch database, compare it with the manifest, and drop it.

    Raises CannotBackUp if the restore fails.
    """
    with _unpacked(source, unlock or Unlock()) as (manifest, folder):
        refuse_newer(manifest, known=known_migrations())
        refuse_half_migrated(manifest)
        if not database.may_make_databases():
            raise CannotBackUp(
                "a drill needs a role that may create databases (ALTER ROLE ... CREATEDB). Grant it, "
                "or run the drill on a machine where ScriptSmith starts its own PostgreSQL"
            )
        scratch = _name("drill")
        try:
            database.make_database(scratch, dump=folder / DUMP)
            tables = _compare(manifest, database.count_tables_of(scratch))
        finally:
            database.drop_database(scratch)
    drill = Drill(manifest, tables)
    _note(Kind.DRILL, source, passed=drill.passed)
    return drill


def applied_migrations() -> list[str]:
    """Return the applied migrations as "app.name", sorted."""
    applied = MigrationRecorder(connection).applied_migrations()
    return sorted(f"{app}.{name}" for app, name in applied)


def known_migrations() -> set[str]:
    """Return the migrations of this version as "app.name", including those that squashed migrations replace."""
    loader = MigrationLoader(None, load=False)
    loader.load_disk()
    known = set(loader.disk_migrations)
    for migration in loader.disk_migrations.values():
        known |= set(migration.replaces)
    return {f"{app}.{name}" for app, name in known}


def refuse_newer(manifest: Manifest, *, known: set[str]) -> None:
    """Raise CannotBackUp if a newer version of the product made the backup."""
    if manifest.format > FORMAT or (unknown := sorted(set(manifest.migrations) - known)):
        missing = "" if manifest.format > FORMAT else f" ({', '.join(unknown[:3])})"
        raise CannotBackUp(
            f"this backup was made by a newer version, ScriptSmith {manifest.product}{missing}. "
            "Install that version"
        )


def refuse_half_migrated(manifest: Manifest) -> None:
    """Raise CannotBackUp if the backup's database was half-migrated, so that this version can't complete it."""
    applied = {
        (app, name) for app, _dot, name in (one.partition(".") for one in manifest.migrations)
    }
    if missing := missing_migrations(applied):
        raise CannotBackUp(
            f"the database of this backup was only partly migrated: {', '.join(missing[:3])} is "
            "missing. Restore it with the version that made it, migrate it there and make a new "
            "backup (docs/operation.md, 'Half-migrated databases')"
        )


@contextmanager
def _unpacked(source: Path, unlock: Unlock) -> Iterator[tuple[Manifest, Path]]:
    """Yield the manifest and a temporary folder with all verified parts."""
    # Use the data folder, because the system's temporary folder may be in memory and too small.
    with tempfile.TemporaryDirectory(dir=settings.LAYOUT.data) as scratch:
        folder, plain = Path(scratch) / "parts", source
        try:
            if is_encrypted(source):
                plain = Path(scratch) / "archive"
                unlock.decrypt(source, plain)
        except OSError as error:
            raise CannotBackUp(f"{source} can't be read: {error}") from error
        folder.mkdir()
        yield unpack(plain, folder), folder


def _exchange_database(manifest: Manifest, dump: Path) -> None:
    """Fill and verify a new database, then swap it with the current one.

    Drop the old database when the new one works.
    """
    own, new, aside = database.own_name(), _name("restoring"), _name("before")
    try:
        database.make_database(new, dump=dump)
        found = _compare(manifest, database.count_tables_of(new))
        if wrong := [table.table for table in found if table.same is False]:
            raise CannotBackUp(
                f"these restored tables differ from the backup: {', '.join(wrong[:5])}"
            )
        if database.migrations_of(new) != manifest.migrations:
            raise CannotBackUp("the restored migrations differ from those of the backup")
        database.exchange(own, new, aside=aside)
    except BaseException:
        with suppress(CannotBackUp):
            database.drop_database(new)
        raise
    try:
        migrate()
    except BaseException:
        database.exchange(own, aside, aside=new)
        with suppress(CannotBackUp):
            database.drop_database(new)
        raise
    connection.close()
    database.drop_database(aside)


@contextmanager
def _files_exchanged(folder: Path) -> Iterator[None]:
    """Replace the stored files and the secret key. If the block fails, restore the previous files and key.

    Files in a bucket stay unchanged.
    """
    root, aside = Path(settings.MEDIA_ROOT), folder / "files before"
    key: Path = settings.LAYOUT.secret_key
    key_before = key.read_bytes() if key.exists() else None
    restored = folder / FILES
    restored.mkdir(exist_ok=True)
    if root.exists():
        shutil.move(root, aside)
    try:
        shutil.move(restored, root)
        _write_key((folder / KEY).read_bytes())
        yield
    except BaseException:
        shutil.rmtree(root, ignore_errors=True)
        if aside.exists():
            shutil.move(aside, root)
        if key_before is not None:
            _write_key(key_before)
        raise


def _compare(manifest: Manifest, found: database.Tables) -> list[Compared]:
    """Compare the restored tables with those in the manifest. Without checksums, the result is unknown."""
    compared = []
    for name in sorted(set(found) | set(manifest.tables)):
        is_there, expected = found.get(name), manifest.tables.get(name)
        same = is_there == expected if manifest.proves_itself else None
        rows = int(is_there["rows"]) if is_there else 0
        compared.append(Compared(name, rows, int(expected["rows"]) if expected else None, same))
    return compared


def _has_data() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass('auth_user')")
        if cursor.fetchone()[0] is None:
            return False
        cursor.execute("SELECT EXISTS (SELECT FROM auth_user)")
        return bool(cursor.fetchone()[0])


def _name(purpose: str) -> str:
    """Return a name for a temporary database, with at most 63 characters."""
    return f"{database.own_name()[:40]}_{purpose}_{os.getpid()}"


def _note(
    kind: BackupEvent.Kind,
    path: Path,
    *,
    encrypted: bool = False,
    passed: bool = True,
    at: datetime | None = None,
) -> None:
    BackupEvent.objects.create(
        kind=kind,
        at=at or timezone.now(),
        file=str(path.resolve())[:300],
        size=path.stat().st_size,
        encrypted=encrypted,
        passed=passed,
    )


def _write_durably(source: Path, target: Path) -> None:
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file, source.open("rb") as made:
        shutil.copyfileobj(made, file)
        file.flush()
        os.fsync(file.fileno())


def _write_key(key: bytes) -> None:
    """Write the backup's key, so that sessions stay valid, unless the environment sets the key."""
    if os.environ.get("SCRIPTSMITH_SECRET_KEY"):
        return
    path: Path = settings.LAYOUT.secret_key
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(key)
    fresh.replace(path)
