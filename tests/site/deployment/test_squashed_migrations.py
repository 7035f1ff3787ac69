"""Tests that databases from before the squash migrate without data loss, and that half-migrated databases are rejected.

The backup in tests/cases/upgrades was created by the code with 64 migrations. It contains the demo and at least one row
in every table.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import subprocess
from pathlib import Path

import pytest
from django.core.checks import run_checks
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from pytest_django import Settings

from core.database.migration_history import missing_migrations
from scriptsmith_site.embedded import prepare
from scriptsmith_site.embedded.commands import migrate
from scriptsmith_site.embedded.layout import Layout
from scriptsmith_site.embedded.servers.binaries import find_postgres
from scriptsmith_site.operation.backup import (
    CannotBackUp,
    Manifest,
    connection_environment,
    refuse_half_migrated,
)
from scriptsmith_site.operation.backup import database as backup_database
from scriptsmith_site.operation.backup.archive import DUMP, KEY, unpack
from scriptsmith_site.operation.health import Health, check_migrations
from tests.fresh_database import fresh_database, used_database

BACKUP = Path(__file__).parents[2] / "cases" / "upgrades" / "backup-of-64-migrations.tar.gz"
SQUASHED = {
    ("catalog", "0001_squashed_0019_initial"),
    ("pipeline", "0001_squashed_0018_initial"),
    ("review", "0001_squashed_0027_initial"),
    ("scriptsmith_site", "0001_squashed_0017_initial"),
}
# Tables that later migrations change. They keep their rows but have different checksums.
CHANGED_SINCE = (
    "catalog_recheck",
    "pipeline_configuration",
    "pipeline_rolesetting",
    "review_campaign",
)
# Tables that later migrations add, and tables with a row for each table.
ADDED_SINCE = (
    "catalog_toolrule",
    "pipeline_idempotencykey",
    "review_reportpart",
    "auth_permission",
    "django_content_type",
)
ADVICE = "docs/operation.md, 'Half-migrated databases'"


@pytest.fixture
def backup(settings: Settings, tmp_path: Path) -> Path:
    """Return a backup created by the old code, in its own data folder."""
    settings.LAYOUT = Layout(tmp_path / "data")
    settings.MEDIA_ROOT = tmp_path / "data" / "files"
    settings.MEDIA_ROOT.mkdir(parents=True)
    file = tmp_path / "backup.tar"
    file.write_bytes(gzip.decompress(BACKUP.read_bytes()))
    return file


def own_database(purpose: str) -> str:
    return f"upgrade_{purpose}_{os.getpid()}"


def schema_of(database: str) -> str:
    """Return the schema with sorted columns, without comments, and with one notation for lists of texts.

    PostgreSQL casts either the list or each element, depending on whether the constraint was restored from a dump.
    """
    dumped = subprocess.run(
        [find_postgres() / "bin" / "pg_dump", "--schema-only", "--no-owner"],
        env=os.environ
        | connection_environment(connection.get_connection_params())
        | {"PGDATABASE": database},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    text = re.sub(r"^(--|\\(un)?restrict ).*\n|^\n", "", dumped, flags=re.MULTILINE)
    text = re.sub(r"\(('[^']*'::character varying)\)::text", r"\1", text)
    text = re.sub(r"\((ARRAY\[[^\]]*\])\)::text\[\]", r"\1", text)

    def sort_columns(table: re.Match[str]) -> str:
        return table[1] + "\n".join(sorted(line.rstrip(",") for line in table[2].splitlines()))

    return re.sub(r"^(CREATE TABLE .*\n)((?:    .*\n)+)", sort_columns, text, flags=re.MULTILINE)


def ignore_changes(tables: dict[str, dict[str, str | int]]) -> None:
    for name in ADDED_SINCE:
        tables.pop(name, None)
    for name in CHANGED_SINCE:
        del tables[name]["checksum"]


def applied_migrations() -> set[tuple[str, str]]:
    return set(MigrationRecorder(connection).applied_migrations())


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_database_of_64_migrations_gets_the_schema_of_a_new_one_and_keeps_every_row(
    backup: Path, tmp_path: Path, settings: Settings
) -> None:
    """Only a dump by the old code has the names and types that its 64 migrations created."""
    (tmp_path / "parts").mkdir()
    manifest = unpack(backup, tmp_path / "parts")
    assert min(table["rows"] for table in manifest.tables.values()) > 0, "a table has no row"
    settings.SECRET_KEY = (tmp_path / "parts" / KEY).read_text()
    name = own_database("old")
    backup_database.make_database(name, dump=tmp_path / "parts" / DUMP)
    try:
        with used_database(name):
            assert not SQUASHED & applied_migrations()
            call_command("migrate", verbosity=0, skip_checks=False)
            assert applied_migrations() >= SQUASHED
            assert check_migrations(connection) is Health.OK
            rows, schema = backup_database.count_tables(), schema_of(name)
    finally:
        backup_database.drop_database(name)

    with fresh_database(own_database("new")):
        new_schema = schema_of(own_database("new"))
        call_command("makemigrations", check=True, dry_run=True, verbosity=0)
    # The index of an embedding model is created when the model's embeddings are built.
    old = [line for line in schema.splitlines() if "INDEX embedding_hnsw_" not in line]
    assert old == new_schema.splitlines()
    for tables in (rows, manifest.tables):
        del tables["django_migrations"]
        ignore_changes(tables)
    assert rows == manifest.tables


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_backup_of_64_migrations_is_restored(backup: Path, tmp_path: Path) -> None:
    """Only running the command shows that old backups pass all checks of names, checksums and versions."""
    (tmp_path / "parts").mkdir()
    expected = unpack(backup, tmp_path / "parts").tables
    with fresh_database(own_database("restored")):
        call_command("restore", str(backup), stdout=io.StringIO())
        assert applied_migrations() >= SQUASHED
        found = backup_database.count_tables()
    # The restore records itself and deletes the backup's worker rows.
    for tables in (found, expected):
        for changed in ("django_migrations", "pipeline_worker", "scriptsmith_site_backupevent"):
            del tables[changed]
        ignore_changes(tables)
    assert found == expected


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_initial_migrations_are_reversible() -> None:
    """Only PostgreSQL can show that no leftover table, function or trigger blocks the next migration."""
    name = own_database("reversed")
    with fresh_database(name):
        before = schema_of(name)
        call_command("migrate", "catalog", "zero", verbosity=0)
        left = connection.introspection.table_names()
        assert not [one for one in left if one.startswith(tuple(app for app, _name in SQUASHED))]
        call_command("migrate", verbosity=0)
        assert schema_of(name).splitlines() == before.splitlines()


@pytest.fixture(params=["catalog", "scriptsmith_site"])
def half_migrated(db: None, request: pytest.FixtureRequest) -> str:
    """Delete the last two replaced migrations of an app from the history, and return the first of the two."""
    app = request.param
    (squashed,) = [one for one in SQUASHED if one[0] == app]
    replaced = MigrationLoader(None).disk_migrations[squashed].replaces
    names = [name for _app, name in replaced[-2:]]
    history = MigrationRecorder.Migration.objects.filter(app=app)
    history.filter(name__in=[*names, squashed[1]]).delete()
    return f"{app}.{names[0]}"


def test_half_migrated_database_is_refused_by_every_command_with_one_message(
    half_migrated: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the command can show that its checks run first. Without them, Django would skip the app or fail with a
    traceback."""
    told = f"{half_migrated} and 1 more is missing"
    with pytest.raises(SystemCheckError, match=f"(?s)E008.*{told}.*HINT.*{ADVICE}"):
        call_command("migrate", verbosity=0, skip_checks=False)
    with pytest.raises(ImproperlyConfigured, match=f"{told}.*{ADVICE}"):
        migrate()
    for earlier_step in ("call_command", "empty_folder"):
        monkeypatch.setattr(prepare, earlier_step, lambda *_arguments, **_options: None)
    with pytest.raises(SystemExit) as ended:
        prepare.main()
    assert told in str(ended.value) and ADVICE in str(ended.value)
    assert "\n" not in str(ended.value), "`make run` shows the last line"


def test_half_migrated_database_fails_the_check_and_readiness(half_migrated: str) -> None:
    found = {message.id for message in run_checks(tags=["database"], databases=["default"])}
    assert "scriptsmith.E008" in found
    assert check_migrations(connection) is Health.FAILED


@pytest.mark.django_db
def test_whole_and_new_databases_lack_no_migration() -> None:
    assert missing_migrations(applied_migrations()) == missing_migrations(set()) == []
    assert missing_migrations(applied_migrations() - SQUASHED) == []


@pytest.mark.parametrize(
    ("migrations", "refused"),
    [
        pytest.param([], False, id="new"),
        pytest.param(["review.0001_initial", "review.0002_live_queue"], True, id="half"),
        pytest.param(["auth.0001_initial"], False, id="of a package"),
    ],
)
def test_backup_of_a_half_migrated_database_is_refused(
    migrations: list[str], refused: bool
) -> None:
    manifest = Manifest(format=2, product="0.1.0", made_at="", migrations=migrations)
    if refused:
        with pytest.raises(CannotBackUp, match=f"(?s)review.0009_.*{ADVICE}"):
            refuse_half_migrated(manifest)
    else:
        refuse_half_migrated(manifest)
