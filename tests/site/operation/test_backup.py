"""Tests that a backup is either restored completely or rejected without any change."""

from __future__ import annotations

import hashlib
import io
import json
import random
import stat
import tarfile
from collections.abc import Callable
from pathlib import Path

import pyrage
import pytest
from auditlog.models import LogEntry
from django.contrib.auth.models import Group, User
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from pytest_django import Settings

from core.audit import record
from core.kept_files import UNFINISHED
from pipeline.models import Worker
from pipeline.scheduling.heartbeat import heartbeat
from scriptsmith_site.embedded.layout import Layout
from scriptsmith_site.files import kept_files_storage
from scriptsmith_site.models import BackupEvent
from scriptsmith_site.operation.backup import (
    FORMAT,
    CannotBackUp,
    Lock,
    Manifest,
    Unlock,
    connection_environment,
    files_elsewhere,
    known_migrations,
    refuse_newer,
)
from scriptsmith_site.operation.backup import database as backup_database
from scriptsmith_site.operation.backup.archive import pack, unpack
from tests.first_cases import first_cases
from tests.people import make_person


@pytest.fixture
def alone(transactional_db: None) -> None:
    """Disconnect the heartbeats of earlier tests, which stay connected until their next beat."""
    with heartbeat._lock:
        heartbeat._held.clear()
        heartbeat._worker = None
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


@pytest.fixture
def data(settings: Settings, tmp_path: Path, alone: None) -> Path:
    """Use a separate data folder with the test's database."""
    settings.LAYOUT = Layout(tmp_path / "data")
    settings.MEDIA_ROOT = tmp_path / "data" / "files"
    settings.MEDIA_ROOT.mkdir(parents=True)
    (settings.MEDIA_ROOT / "export.csv").write_text("a,b\n")
    return tmp_path


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_everything_comes_back(data: Path, settings: Settings) -> None:
    make_person("kept", "reviewer")
    Worker.objects.create(name="of then", threads=1)
    file = data / "backup.tar"
    call_command("backup", str(file), stdout=io.StringIO())
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert {path.name for path in data.iterdir()} == {"data", "backup.tar"}, "nothing stays behind"

    Worker.objects.create(name="of later", threads=1)
    make_person("came later")
    User.objects.filter(username="kept").delete()
    (settings.MEDIA_ROOT / "export.csv").write_text("changed")
    call_command("restore", str(file), "--yes", stdout=io.StringIO())

    assert [user.username for user in User.objects.all()] == ["kept"]
    assert Group.objects.filter(user__username="kept", name="reviewer").exists()
    assert (settings.MEDIA_ROOT / "export.csv").read_text() == "a,b\n"
    assert settings.LAYOUT.secret_key.read_text() == settings.SECRET_KEY
    assert stat.S_IMODE(settings.LAYOUT.secret_key.stat().st_mode) == 0o600
    assert not Worker.objects.exists(), "nobody works on it"
    events = list(BackupEvent.objects.order_by("pk").values_list("kind", flat=True))
    assert events == ["backup", "restore"], "its own making is told again"
    record(User.objects.get(), "came back", by=None)
    with pytest.raises(Exception, match="append-only"):  # the triggers are restored too
        LogEntry.objects.all().delete()


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_what_is_there_is_not_replaced_unasked(data: Path) -> None:
    make_person("here")
    file = data / "backup.tar"
    call_command("backup", str(file), stdout=io.StringIO())
    with pytest.raises(CommandError, match="Use --yes to replace all of it"):
        call_command("restore", str(file))
    assert User.objects.get().username == "here"


def databases() -> set[str]:
    with connection.cursor() as cursor:
        # Other test processes also create databases, with different names.
        cursor.execute("SELECT datname FROM pg_database")
        own = str(connection.settings_dict["NAME"])
        return {name for (name,) in cursor.fetchall() if name.startswith(own)}


def forge(good: Path, bad: Path, change: Callable[[str, bytes], bytes]) -> None:
    """Create a backup with changed parts and a manifest that matches them."""
    with tarfile.open(good) as source, tarfile.open(bad, "w") as target:
        parts = {}
        for member in source.getmembers():
            file = source.extractfile(member)
            content = change(member.name, file.read())
            if member.name == "manifest.json":
                made = json.loads(content)
                made["parts"] |= parts
                content = json.dumps(made).encode()
                checksum = hashlib.sha256(content).hexdigest().encode()
            elif member.name == "manifest.sha256":
                content = checksum
            else:
                digest = hashlib.sha256(content).hexdigest()
                parts[member.name] = {"sha256": digest, "size": len(content)}
            member.size = len(content)
            target.addfile(member, io.BytesIO(content))


def test_unfinished_files_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "dump").write_bytes(b"x")
    for name in ("transfers/kept", "unfinished/half", "transfers/unfinished"):
        path = tmp_path / "files" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    made = tmp_path / "made"
    with made.open("wb") as target:
        parts = manifest()
        files = tmp_path / "files"
        pack(target, parts, dump=tmp_path / "dump", key="k", files=files, leave_out=UNFINISHED)
    with tarfile.open(made) as archive:
        names = {name for name in archive.getnames() if name.startswith("files/")}
    assert names == {"files/transfers/kept", "files/transfers/unfinished"}


def test_files_in_bucket_are_not_backed_up(settings: Settings, as_administrator: Client) -> None:
    assert files_elsewhere() == ""
    assert "not in the backup" not in as_administrator.get("/operation/").text
    settings.SCRIPTSMITH_FILES = "s3://kept/scripts"
    storage = kept_files_storage(settings.SCRIPTSMITH_FILES, endpoint="")
    settings.STORAGES = settings.STORAGES | {"default": storage}
    assert "are in s3://kept/scripts and not in the backup" in files_elsewhere()
    assert (
        "are in s3://kept/scripts and not in the backup" in as_administrator.get("/operation/").text
    )


def halved(name: str, content: bytes) -> bytes:
    return content[: len(content) // 2] if name == "database.dump" else content


def one_row_more(name: str, content: bytes) -> bytes:
    if name != "manifest.json":
        return content
    made = json.loads(content)
    made["tables"]["auth_user"]["rows"] += 1
    return json.dumps(made).encode()


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("rights", first_cases(1, ["may make databases", "may not"]))
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        pytest.param(halved, r"pg_restore|psql", id="a dump that breaks off"),
        pytest.param(one_row_more, r"differs? from the backup", id="a row is missing"),
    ],
)
def test_a_restore_that_fails_leaves_everything_as_it_was(
    data: Path,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[str, bytes], bytes],
    reason: str,
    rights: str,
) -> None:
    good, bad = data / "good.tar", data / "bad.tar"
    call_command("backup", str(good), stdout=io.StringIO())
    forge(good, bad, change)
    make_person("here")
    settings.LAYOUT.secret_key.write_text("the key of now")
    (settings.MEDIA_ROOT / "export.csv").write_text("of now")
    before = databases()
    if rights == "may not":
        monkeypatch.setattr(backup_database, "may_make_databases", lambda: False)
    with pytest.raises(CommandError, match=reason):
        call_command("restore", str(bad), "--yes")
    assert User.objects.get().username == "here"
    assert databases() == before
    assert settings.LAYOUT.secret_key.read_text() == "the key of now"
    assert (settings.MEDIA_ROOT / "export.csv").read_text() == "of now"


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_silent_database_is_swapped_back(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = data / "backup.tar"
    call_command("backup", str(file), stdout=io.StringIO())
    make_person("here")
    before = databases()

    def migrate() -> None:
        assert not User.objects.exists(), "the restored one is in its place by now"
        raise CannotBackUp("it does not answer")

    monkeypatch.setattr("scriptsmith_site.operation.backup.services.migrate", migrate)
    with pytest.raises(CommandError, match="does not answer"):
        call_command("restore", str(file), "--yes")
    assert User.objects.get().username == "here" and databases() == before


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_role_without_createdb_can_restore(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backup_database, "may_make_databases", lambda: False)
    make_person("kept")
    file = data / "backup.tar"
    call_command("backup", str(file), stdout=io.StringIO())
    make_person("came later")
    call_command("restore", str(file), "--yes", stdout=io.StringIO())
    assert [user.username for user in User.objects.all()] == ["kept"]
    with pytest.raises(CommandError, match="a role that may create databases"):
        call_command("restore", str(file), "--drill")


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_drill_compares_and_leaves_nothing_behind(data: Path) -> None:
    make_person("kept")
    good, bad = data / "good.tar", data / "bad.tar"
    call_command("backup", str(good), stdout=io.StringIO())
    forge(good, bad, one_row_more)
    make_person("came later")
    before, said = databases(), io.StringIO()
    call_command("restore", str(good), "--drill", stdout=said)
    assert "auth_user " in said.getvalue() and "1 rows  the same" in said.getvalue()
    assert "The backup can be restored" in said.getvalue()
    with pytest.raises(CommandError, match="differs from the backed-up data"):
        call_command("restore", str(bad), "--drill", stdout=(said := io.StringIO()))
    assert "1 rows  DIFFERS (expected 2)" in said.getvalue()
    assert databases() == before
    assert User.objects.count() == 2
    events = list(BackupEvent.objects.order_by("pk").values_list("kind", "passed"))
    assert events == [("backup", True), ("drill", True), ("drill", False)]


CORRUPTED = 200


def corrupted(good: bytes, number: int) -> bytes:
    """Truncate the file, flip bits, swap parts or overwrite bytes. The same number always causes the same damage."""
    chance = random.Random(number)
    changed = bytearray(good)
    kind = number % 4
    if kind == 0:
        return good[: chance.randrange(len(good))]
    if kind == 1:
        for _ in range(chance.choice((1, 1, 1, 8))):
            changed[chance.randrange(len(good))] ^= 1 << chance.randrange(8)
    elif kind == 2:
        # Swap two ranges of whole tar blocks of 512 bytes.
        length = 512 * chance.randrange(1, 9)
        first, second = sorted(chance.sample(range(0, len(good) - length, 512), 2))
        changed[first : first + length], changed[second : second + length] = (
            good[second : second + length],
            good[first : first + length],
        )
    else:
        at = chance.randrange(len(good) - 64)
        changed[at : at + 64] = chance.randbytes(64)
    return bytes(changed)


def parts_of(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_two_hundred_corrupted_backups_are_refused_or_whole(data: Path) -> None:
    file, bad = data / "good.tar", data / "bad.tar"
    call_command("backup", str(file), stdout=io.StringIO())
    make_person("here")
    good, whole = file.read_bytes(), data / "whole"
    whole.mkdir()
    manifest = unpack(file, whole)
    refused = []
    for number in range(CORRUPTED):
        bad.write_bytes(corrupted(good, number))
        folder = data / str(number)
        folder.mkdir()
        try:
            read = unpack(bad, folder)
        except CannotBackUp:
            refused.append(number)
            continue
        assert (read, parts_of(folder)) == (manifest, parts_of(whole)), number
    assert len(refused) > CORRUPTED * 0.8, "most changes are not of padding"
    before = databases()
    for number in refused[:20]:
        bad.write_bytes(corrupted(good, number))
        with pytest.raises(CommandError):
            call_command("restore", str(bad), "--yes")
        assert User.objects.get().username == "here"
    assert databases() == before


def test_parts_that_changed_places_are_refused(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    for name in ("a", "b"):
        (tmp_path / "files" / name).write_text(name)
    (tmp_path / "dump").write_text("dump")
    good, bad = tmp_path / "good.tar", tmp_path / "bad.tar"
    with good.open("wb") as target:
        pack(target, manifest(), dump=tmp_path / "dump", key="k", files=tmp_path / "files")
    other = {"files/a": "files/b", "files/b": "files/a"}
    with tarfile.open(good) as source, tarfile.open(bad, "w") as changed:
        for member in source.getmembers():
            content = source.extractfile(member)
            member.name = other.get(member.name, member.name)
            changed.addfile(member, content)
    (tmp_path / "out").mkdir()
    with pytest.raises(CannotBackUp, match="files/[ab] has changed since the backup was made"):
        unpack(bad, tmp_path / "out")


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("way", first_cases(1, ["passphrase", "recipient"]))
def test_an_encrypted_backup_is_read_with_its_key_only(
    data: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    make_person("kept")
    file, identity = data / "backup.age", data / "identity"
    secret, other = pyrage.x25519.Identity.generate(), pyrage.x25519.Identity.generate()
    said = io.StringIO()
    monkeypatch.setenv("SCRIPTSMITH_BACKUP_PASSPHRASE", "correct horse")
    if way == "passphrase":
        call_command("backup", str(file), "--encrypt", stdout=said)
    else:
        recipient = str(secret.to_public())
        call_command("backup", str(file), "--recipient", recipient, stdout=said)
    assert "The backup is encrypted" in said.getvalue()
    assert settings.SECRET_KEY.encode() not in file.read_bytes()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert {path.name for path in data.iterdir()} == {"data", "backup.age"}, "nothing in the clear"

    monkeypatch.setenv("SCRIPTSMITH_BACKUP_PASSPHRASE", "wrong")
    identity.write_text(f"# not the one\n{other}\n")
    with pytest.raises(CommandError, match="can't decrypt the backup"):
        call_command("restore", str(file), "--yes", "--identity", str(identity))
    if way == "passphrase":
        with pytest.raises(CommandError, match="can't decrypt the backup"):
            call_command("restore", str(file), "--yes")
        monkeypatch.setenv("SCRIPTSMITH_BACKUP_PASSPHRASE", "correct horse")
    given = [] if way == "passphrase" else ["--identity", str(identity)]
    identity.write_text(f"{other}\n{secret}\n")
    damaged = data / "damaged.age"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    damaged.write_bytes(content)
    with pytest.raises(CommandError, match="can't decrypt the backup"):
        call_command("restore", str(damaged), "--yes", *given)
    make_person("came later")
    call_command("restore", str(file), "--yes", *given, stdout=io.StringIO())
    assert [user.username for user in User.objects.all()] == ["kept"]


def test_what_is_no_key_is_refused(tmp_path: Path, db: None, settings: Settings) -> None:
    settings.MEDIA_ROOT = tmp_path / "none"
    for key in ("age1nonsense", "ssh-rsa nonsense"):
        with pytest.raises(CannotBackUp, match="not an age or SSH public key"):
            Lock(recipients=(key,)).encrypt(Path("/dev/null"), tmp_path / "out")
    (tmp_path / "empty").write_text("")
    with pytest.raises(CannotBackUp, match="no age or SSH secret key"):
        Unlock(identity=tmp_path / "empty").decrypt(Path("/dev/null"), tmp_path / "out")
    with pytest.raises(CommandError, match="either --encrypt or --recipient"):
        call_command("backup", str(tmp_path / "b"), "--encrypt", "--recipient", "age1x")


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_it_is_said_that_an_open_backup_holds_the_secret_key(data: Path) -> None:
    said = io.StringIO()
    call_command("backup", str(data / "backup.tar"), stdout=said)
    assert "NOT encrypted. It contains all data and the secret key" in said.getvalue()


def as_format_1(good: Path, old: Path) -> None:
    """Convert the backup to the format that had no checksums."""
    with tarfile.open(good) as source, tarfile.open(old, "w") as target:
        for member in source.getmembers():
            file = source.extractfile(member)
            content = file.read()
            if member.name == "manifest.sha256":
                continue
            if member.name == "manifest.json":
                made = json.loads(content)
                kept = ("product", "made_at", "migrations")
                content = json.dumps({"format": 1} | {key: made[key] for key in kept}).encode()
                member.size = len(content)
            target.addfile(member, io.BytesIO(content))


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_one_without_checksums_is_restored_only_where_that_is_said(data: Path) -> None:
    make_person("kept")
    good, old, said = data / "good.tar", data / "old.tar", io.StringIO()
    call_command("backup", str(good), stdout=io.StringIO())
    as_format_1(good, old)
    make_person("came later")
    with pytest.raises(CommandError, match="without checksums"):
        call_command("restore", str(old), "--yes")
    assert User.objects.count() == 2
    call_command("restore", str(old), "--drill", stdout=said)
    assert "no checksum to compare" in said.getvalue() and "not verified" in said.getvalue()
    call_command("restore", str(old), "--yes", "--unverified", stdout=io.StringIO())
    assert [user.username for user in User.objects.all()] == ["kept"]


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_newer_backup_is_refused(data: Path) -> None:
    MigrationRecorder(connection).record_applied("catalog", "0999_from_the_future")
    file = data / "backup.tar"
    try:
        call_command("backup", str(file), stdout=io.StringIO())
    finally:
        MigrationRecorder(connection).record_unapplied("catalog", "0999_from_the_future")
    with pytest.raises(CommandError, match="catalog.0999_from_the_future"):
        call_command("restore", str(file), "--yes")


def make_tar(path: Path, **members: str) -> Path:
    with tarfile.open(path, "w") as tar:
        for name, text in members.items():
            info = tarfile.TarInfo(name.replace("_json", ".json"))
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
    return path


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        pytest.param({}, "manifest.json is missing", id="empty"),
        pytest.param({"manifest_json": "{}"}, "manifest can't be read", id="no manifest"),
        pytest.param({"manifest_json": "not JSON"}, "manifest can't be read", id="no JSON"),
    ],
)
def test_what_is_no_backup_is_refused(
    tmp_path: Path, data: Path, members: dict[str, str], reason: str
) -> None:
    with pytest.raises(CommandError, match=reason):
        call_command("restore", str(make_tar(tmp_path / "x.tar", **members)))


def test_unusable_file_is_refused_and_existing_one_kept(tmp_path: Path, data: Path) -> None:
    (tmp_path / "x.tar").write_text("no tar")
    for name in ("x.tar", "missing.tar"):
        with pytest.raises(CommandError, match="can't be read"):
            call_command("restore", str(tmp_path / name))
    file = tmp_path / "backup.tar"
    file.write_text("precious")
    with pytest.raises(CommandError, match="already exists"):
        call_command("backup", str(file))
    assert file.read_text() == "precious"


def manifest(**changes: object) -> Manifest:
    known: dict[str, object] = {
        "format": FORMAT,
        "product": "9.9",
        "made_at": "",
        "migrations": ["a.1"],
    }
    return Manifest(**json.loads(json.dumps({**known, **changes})))


@pytest.mark.parametrize(
    ("made_with", "known", "refused"),
    [
        pytest.param({}, {"a.1"}, False, id="the same"),
        pytest.param({}, {"a.1", "a.2"}, False, id="older"),
        pytest.param({"migrations": ["a.1", "a.2"]}, {"a.1"}, True, id="newer tables"),
        pytest.param({"format": FORMAT + 1}, {"a.1"}, True, id="newer format"),
    ],
)
def test_only_newer_backups_are_refused(
    made_with: dict[str, object], known: set[str], refused: bool
) -> None:
    if refused:
        with pytest.raises(CannotBackUp, match=r"made by a newer version, ScriptSmith 9\.9"):
            refuse_newer(manifest(**made_with), known=known)
    else:
        refuse_newer(manifest(**made_with), known=known)


def test_known_migrations_include_replaced_ones() -> None:
    assert {"catalog.0002_initial", "catalog.0001_squashed_0019_initial"} <= known_migrations()


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        pytest.param(
            {"host": "/run", "dbname": "s", "user": "u", "cursor_factory": object},
            {"PGHOST": "/run", "PGDATABASE": "s", "PGUSER": "u"},
            id="socket",
        ),
        pytest.param(
            {"host": "db", "port": 5433, "password": "p", "sslmode": "require"},
            {"PGHOST": "db", "PGPORT": "5433", "PGPASSWORD": "p", "PGSSLMODE": "require"},
            id="server",
        ),
    ],
)
def test_database_programs_use_env(parameters: dict[str, object], expected: dict[str, str]) -> None:
    assert connection_environment(parameters) == expected
