"""Delete rows after each test with real transactions. Django's `flush` would take half a second."""

from __future__ import annotations

from functools import cache

import psycopg.errors
from django.db import ProgrammingError, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test import TransactionTestCase

# Migrations fill these tables, and no test changes them.
_STAYS = {
    "auth_group",
    "auth_group_permissions",
    "auth_permission",
    "django_content_type",
    "django_migrations",
}
_flush = TransactionTestCase._fixture_teardown


def _empty_all(self: TransactionTestCase) -> None:
    try:
        for alias in self._databases_names(include_mirrors=False):
            _empty(connections[alias])
    except ProgrammingError as problem:
        # Only a superuser can disable the triggers that protect the audit log.
        if not isinstance(problem.__cause__, psycopg.errors.InsufficientPrivilege):
            raise
        _flush(self)


def _empty(connection: BaseDatabaseWrapper) -> None:
    with transaction.atomic(connection.alias), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(_find_filled(connection.alias))
        for (table,) in cursor.fetchall():
            cursor.execute(f"DELETE FROM {connection.ops.quote_name(table)}")


@cache
def _find_filled(alias: str) -> str:
    """Return the query that lists the tables with rows."""
    connection = connections[alias]
    tables = set(connection.introspection.table_names()) - _STAYS
    rows = (f"('{table}', EXISTS (SELECT FROM \"{table}\"))" for table in sorted(tables))
    return f"SELECT name FROM (VALUES {', '.join(rows)}) AS of (name, filled) WHERE filled"


def install() -> None:
    """Replace Django's method that empties the tables after tests with real transactions."""
    TransactionTestCase._fixture_teardown = _empty_all
