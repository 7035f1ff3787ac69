"""Tests that migrations keep everything the previous release reads and writes, so that its workers can continue."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import pytest
from django.db import connection
from django.db.migrations.loader import MigrationLoader

# The last migration of each app in the previous release. Update it with each release.
RELEASED = {
    "catalog": "0001_squashed_0019_initial",
    "pipeline": "0001_squashed_0018_initial",
    "review": "0001_squashed_0027_initial",
    "scriptsmith_site": "0001_squashed_0017_initial",
}
# Parts of statements that do more than add, with the reason why the previous release still works.
HARMLESS: dict[str, str] = {"UPDATE pipeline_configuration": "it changes models that no run uses"}
_TABLE = re.compile(r'(?:CREATE|ALTER) TABLE "(\w+)"|CREATE UNIQUE INDEX "\w+" ON "(\w+)"')
_ONLY_ADDS = ("CREATE TABLE ", "CREATE INDEX ", "DROP INDEX ")


def breaking(statements: Iterable[str]) -> Iterator[str]:
    """Yield the SQL statements that could break a program of the previous release."""
    new = set()
    for statement in statements:
        if statement == "--" or (statement.startswith("-- ") and "CANNOT" not in statement):
            continue
        found = _TABLE.match(statement)
        table = found and (found[1] or found[2])
        if statement.startswith("CREATE TABLE "):
            new.add(table)
        if statement.startswith(_ONLY_ADDS) or table in new:
            continue
        if " DROP CONSTRAINT " in statement or _adds_a_column(statement):
            continue
        yield statement


def _adds_a_column(statement: str) -> bool:
    """Return whether the SQL statement adds a column that an INSERT may omit."""
    return " ADD COLUMN " in statement and (
        " DEFAULT " in statement or " NOT NULL" not in statement
    )


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)  # concurrent index builds cannot run in a transaction
def test_an_old_worker_can_live_with_what_this_release_migrates() -> None:
    loader = MigrationLoader(connection)
    released = list(RELEASED.items())
    known = {node for last in released for node in loader.graph.forwards_plan(last)}
    state = loader.project_state(released)
    found: list[str] = []
    for leaf in (leaf for app in RELEASED for leaf in loader.graph.leaf_nodes(app)):
        for node in loader.graph.forwards_plan(leaf):
            if node not in known:
                known.add(node)
                migration = loader.graph.nodes[node]
                with connection.schema_editor(collect_sql=True, atomic=migration.atomic) as editor:
                    state = migration.apply(state, editor, collect_sql=True)
                found += editor.collected_sql

    broken = [one for one in breaking(found) if not any(name in one for name in HARMLESS)]

    assert not broken, "expand now, contract in the release after: see docs/operation.md"
    used = [name for name in HARMLESS if any(name in one for one in found)]
    assert used == list(HARMLESS), "of a release that is over"


@pytest.mark.parametrize(
    "statement",
    [
        'ALTER TABLE "a" DROP COLUMN "b" CASCADE;',
        'ALTER TABLE "a" RENAME COLUMN "b" TO "c";',
        'ALTER TABLE "a" RENAME TO "b";',
        'DROP TABLE "a" CASCADE;',
        'ALTER TABLE "a" ALTER COLUMN "b" DROP DEFAULT;',
        'ALTER TABLE "a" ALTER COLUMN "b" SET NOT NULL;',
        'ALTER TABLE "a" ALTER COLUMN "b" TYPE integer;',
        'ALTER TABLE "a" ADD COLUMN "b" integer NOT NULL;',
        'ALTER TABLE "a" ADD CONSTRAINT "b" CHECK ("c" > 0);',
        'CREATE UNIQUE INDEX "b" ON "a" ("c");',
        'UPDATE "a" SET "b" = 1;',
        "-- THIS OPERATION CANNOT BE WRITTEN AS SQL",
    ],
)
def test_what_takes_something_away_is_found(statement: str) -> None:
    others = [
        "--",
        "-- Create model New",
        'CREATE TABLE "new" ("id" bigint NOT NULL);',
        'CREATE UNIQUE INDEX "once" ON "new" ("id");',
        'ALTER TABLE "new" ADD COLUMN "b" bigint NOT NULL;',
        'ALTER TABLE "a" ADD COLUMN "d" boolean DEFAULT false NOT NULL;',
        'ALTER TABLE "a" ADD COLUMN "e" bigint NULL;',
        'CREATE INDEX "f" ON "a" ("e");',
    ]
    assert list(breaking([*others, statement])) == [statement]
