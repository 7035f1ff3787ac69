"""A backup restores what was there, or is refused and changes nothing."""

from __future__ import annotations

import io
import json
import stat
import tarfile
from pathlib import Path

import pytest
from auditlog.models import LogEntry
from django.contrib.auth.models import Group, User
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from pytest_django import Settings

from catalog.audit import record
from scriptsmith_site.embedded.layout import Layout
from scriptsmith_site.operation.backup import (
    FORMAT,
    CannotBackUp,
    Manifest,
    connection_environment,
    known_migrations,
    refuse_newer,
)
from tests.people import make_person


@pytest.fixture
def data(settings: Settings, tmp_path: Path) -> Path:
    """A data folder of our own; the database is the test's."""
    settings.LAYOUT = Layout(tmp_path / "data")
    settings.MEDIA_ROOT = tmp_path / "data" / "files"
    settings.MEDIA_ROOT.mkdir(parents=True)
    (settings.MEDIA_ROOT / "export.csv").write_text("a,b\n")
    return tmp_path


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_everything_comes_back(data: Path, settings: Settings) -> None:
    make_person("kept", "reviewer")
    file = data / "backup.tar"
    call_command("backup", str(file), stdout=io.StringIO())
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert {path.name for path in data.iterdir()} == {"data", "backup.tar"}, "nothing stays behind"

    make_person("came later")
    User.objects.filter(username="kept").delete()
    (settings.MEDIA_ROOT / "export.csv").write_text("changed")
    call_command("restore", str(file), "--yes", stdout=io.StringIO())

    assert [user.username for user in User.objects.all()] == ["kept"]
    assert Group.objects.filter(user__username="kept", name="reviewer").exists()
    assert (settings.MEDIA_ROOT / "export.csv").read_text() == "a,b\n"
    assert settings.LAYOUT.secret_key.read_text() == settings.SECRET_KEY
    assert stat.S_IMODE(settings.LAYOUT.secret_key.stat().st_mode) == 0o600
    record(User.objects.get(), "came back", by=None)
    with pytest.raises(Exception, match="append-only"):  # triggers come back as well
        LogEntry.objects.all().delete()


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_what_is_there_is_not_replaced_unasked(data: Path) -> None:
    make_person("here")
    file = data / "backup.tar"
    call_command("backup", str(file), stdout=io.StringIO())
    with pytest.raises(CommandError, match="--yes replaces all of it"):
        call_command("restore", str(file))
    assert User.objects.get().username == "here"


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_restore_that_fails_leaves_the_database_as_it_was(data: Path) -> None:
    make_person("here")
    good, bad = data / "good.tar", data / "bad.tar"
    call_command("backup", str(good), stdout=io.StringIO())
    with tarfile.open(good) as source, tarfile.open(bad, "w") as target:
        for member in source.getmembers():
            file = source.extractfile(member)
            content = file.read() if file else b""
            if member.name == "database.dump":
                content = content[: len(content) // 2]
            member.size = len(content)
            target.addfile(member, io.BytesIO(content))
    with pytest.raises(CommandError, match=r"pg_restore|psql"):
        call_command("restore", str(bad), "--yes")
    assert User.objects.get().username == "here"


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


def test_a_file_that_exists_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "backup.tar"
    file.write_text("precious")
    with pytest.raises(CommandError, match="exists already"):
        call_command("backup", str(file))
    assert file.read_text() == "precious"


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


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, data: Path) -> None:
    (tmp_path / "x.tar").write_text("no tar")
    for name in ("x.tar", "missing.tar"):
        with pytest.raises(CommandError, match="can't be read"):
            call_command("restore", str(tmp_path / name))


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
        with pytest.raises(CannotBackUp, match=r"newer ScriptSmith made this backup, 9\.9"):
            refuse_newer(manifest(**made_with), known=known)
    else:
        refuse_newer(manifest(**made_with), known=known)


def test_this_version_knows_its_own_migrations() -> None:
    assert "scriptsmith_site.0001_initial" in known_migrations()


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
def test_programs_reach_the_database_by_environment(
    parameters: dict[str, object], expected: dict[str, str]
) -> None:
    assert connection_environment(parameters) == expected
