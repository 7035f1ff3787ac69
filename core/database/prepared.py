"""Queries that are compiled once per process and prepared once per connection.

Without this module, Django would compile and PostgreSQL would plan a query each time. Use the module only for queries
that run in every review or on every page. `docs/decisions` describes its cost, and when it can be removed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import cache, cached_property
from inspect import signature
from typing import Any, Generic, NamedTuple, TypeVar

import psycopg
from django.db import DEFAULT_DB_ALIAS, connection, connections, transaction
from django.db.backends.postgresql.psycopg_any import mogrify
from django.db.backends.utils import CursorWrapper
from django.db.models import Model, QuerySet
from django.db.models.query import get_related_populators
from django.db.models.sql.compiler import SQLCompiler
from psycopg.types.numeric import Int8

Row = TypeVar("Row", bound=Model)

# The first of the numbers that stand for arguments during compilation. No query contains these numbers.
_FIRST_MARK = 2_147_480_000
_MARK = re.compile(r"\b21474800(\d\d)\b")
_PLACEHOLDER = re.compile(r"%(?:\(([\w.]+)\)s|s|%)")
_LARGEST_KEY = 2**63 - 1


class PreparedQuery(Generic[Row]):
    """A query for rows of a model. `build` returns the queryset for its integer arguments.

    `build` is called only once, with placeholders, so it must use its arguments only as values in the queryset.
    `select_related`, `annotate` and `defer` work, but `prefetch_related` does not.
    """

    def __init__(self, build: Callable[..., QuerySet[Row]]) -> None:
        self._build = build
        self._names = list(signature(build).parameters)

    def __call__(self, *values: int) -> list[Row]:
        """Return the rows in query order, or an empty list if a value is larger than any key."""
        if max(values) > _LARGEST_KEY:
            return []
        rows = fetch(self.sql, dict(zip(self._names, values, strict=True)))
        return [self.read(row) for row in rows]

    @property
    def sql(self) -> str:
        """Return the SQL with a named placeholder, `%(name)s`, for each argument."""
        return self._compiled.sql

    def read(self, row: Sequence[object]) -> Row:
        """Return the model instance for a row, as Django would create it."""
        compiler, read = self._compiled.compiler, self._compiled
        (values,) = compiler.apply_converters([row], read.converters)
        found: Row = read.model.from_db(DEFAULT_DB_ALIAS, read.names, values[read.columns])
        for populator in read.related:
            populator.populate(values, found)
        for name, place in (compiler.annotation_col_map or {}).items():
            setattr(found, name, values[place])
        return found

    @cached_property
    def _compiled(self) -> _Compiled:
        query = self._build(*(_FIRST_MARK + at for at in range(len(self._names))))
        compiler = query.query.get_compiler(connection=connection)
        # Django allows FOR UPDATE only inside a transaction.
        with transaction.atomic() if connection.get_autocommit() else nullcontext():
            # Write constants into the statement, because PostgreSQL otherwise can't use partial indexes.
            sql = mogrify(*compiler.as_sql(), connection)  # type: ignore[call-arg]
            sql = sql.replace("%", "%%")
        info: dict[str, Any] = compiler.klass_info
        first, last = info["select_fields"][0], info["select_fields"][-1]
        columns = slice(first, last + 1)
        return _Compiled(
            sql=_MARK.sub(lambda mark: f"%({self._names[int(mark[1])]})s", sql),
            compiler=compiler,
            converters=compiler.get_converters([column for column, *_ in compiler.select]),
            model=info["model"],
            names=[column.target.attname for column, *_ in compiler.select[columns]],
            columns=columns,
            related=get_related_populators(info, compiler.select, connection.alias),  # type: ignore[call-arg]
        )


class _Compiled(NamedTuple):
    """A query's SQL, and the data that Django's `ModelIterable` needs to read its rows."""

    sql: str
    compiler: SQLCompiler
    converters: dict[int, Any]
    model: type[Any]
    names: list[str]
    columns: slice
    related: list[Any]


def fetch(sql: str, values: Sequence[object] | Mapping[str, object]) -> list[tuple[Any, ...]]:
    """Execute a statement, preparing it once per connection, and return its rows."""
    return list(execute(sql, values).fetchall())


def execute(sql: str, values: Sequence[object] | Mapping[str, object]) -> CursorWrapper:
    """Execute a statement, preparing it once per connection, and return the cursor."""
    # Use a local variable, because `connection` looks up the database on each attribute access.
    database = connections[DEFAULT_DB_ALIAS]
    database.close_if_health_check_failed()
    database.ensure_connection()
    # Django's cursors write values into the statement, which therefore differs each time. This cursor sends the values
    # separately, and the connection prepares the statement at once (`prepare_threshold` in the settings).
    native = psycopg.RawCursor(database.connection)
    make = database.make_debug_cursor if database.queries_logged else database.make_cursor
    cursor = make(native)  # type: ignore[arg-type]
    numbered, names = _number(sql)
    given = [values[name] for name in names] if isinstance(values, Mapping) else values
    # Send all integers as the same type. Otherwise, psycopg would prepare a statement for each combination of sizes.
    cursor.execute(numbered, [_typed(value) for value in given])
    return cursor


@cache
def _number(sql: str) -> tuple[str, list[str]]:
    """Return the statement with PostgreSQL's placeholders, and the names of their values.

    The result is cached because parsing a long statement is slow.
    """
    names: list[str] = []

    def number(mark: re.Match[str]) -> str:
        if mark[0] == "%%":
            return "%"
        name = mark[1] or f"at {len(names)}"
        if name not in names:
            names.append(name)
        return f"${names.index(name) + 1}"

    return _PLACEHOLDER.sub(number, sql), names


def _typed(value: Any) -> Any:
    return Int8(value) if type(value) is int else value
