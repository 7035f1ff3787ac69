"""Queries that are compiled once for each process and prepared once on each connection.

Only for queries that every review or every page makes: Django compiles a query each time, and PostgreSQL plans it
each time. `docs/decisions` says what that costs, and when this module may be removed.
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

# Stand-ins for the values while a query is compiled: numbers that no query of ours has of its own.
_FIRST_MARK = 2_147_480_000
_MARK = re.compile(r"\b21474800(\d\d)\b")
_PLACEHOLDER = re.compile(r"%(?:\(([\w.]+)\)s|s|%)")
_LARGEST_KEY = 2**63 - 1


class PreparedQuery(Generic[Row]):
    """A query for rows of a model. The arguments of `build`, whole numbers, are passed at each call.

    `build` is called once, with placeholders, so the query must not depend on its arguments in any other way.
    `select_related`, `annotate` and `defer` work, `prefetch_related` does not.
    """

    def __init__(self, build: Callable[..., QuerySet[Row]]) -> None:
        self._build = build
        self._names = list(signature(build).parameters)

    def __call__(self, *values: int) -> list[Row]:
        """The rows, in the order of the query. No rows if a value is larger than any key can be."""
        if max(values) > _LARGEST_KEY:
            return []
        rows = fetch(self.sql, dict(zip(self._names, values, strict=True)))
        return [self.read(row) for row in rows]

    @property
    def sql(self) -> str:
        """The SQL, with named placeholders in place of the values: `%(name)s`."""
        return self._compiled.sql

    def read(self, row: Sequence[object]) -> Row:
        """The model instance of a row, created as Django creates it."""
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
        # FOR UPDATE is written down inside a transaction only.
        with transaction.atomic() if connection.get_autocommit() else nullcontext():
            # Constants are written into the statement: only so is an index on some of the rows used for them.
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
    """A query's SQL, and what `ModelIterable` needs to know about it."""

    sql: str
    compiler: SQLCompiler
    converters: dict[int, Any]
    model: type[Any]
    names: list[str]
    columns: slice
    related: list[Any]


def fetch(sql: str, values: Sequence[object] | Mapping[str, object]) -> list[tuple[Any, ...]]:
    """Execute a statement and return its rows. It is prepared once on each connection."""
    return list(execute(sql, values).fetchall())


def execute(sql: str, values: Sequence[object] | Mapping[str, object]) -> CursorWrapper:
    """Execute a statement. It is prepared once on each connection."""
    # Looked up once: `connection` does so at each attribute.
    database = connections[DEFAULT_DB_ALIAS]
    database.close_if_health_check_failed()
    database.ensure_connection()
    # Django's own cursors write values into the statement, which so is another one each time. This one sends them
    # apart from it, and the connection prepares it at once (`prepare_threshold` in the settings).
    native = psycopg.RawCursor(database.connection)
    make = database.make_debug_cursor if database.queries_logged else database.make_cursor
    cursor = make(native)  # type: ignore[arg-type]
    numbered, names = _number(sql)
    given = [values[name] for name in names] if isinstance(values, Mapping) else values
    # Whole numbers are of one type, whatever their size: else each combination of sizes would be prepared.
    cursor.execute(numbered, [_typed(value) for value in given])
    return cursor


@cache
def _number(sql: str) -> tuple[str, list[str]]:
    """The statement with PostgreSQL's own placeholders, and the names of their values; psycopg reads long ones anew
    each time.
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
