"""Queries that are built once and planned once: for the few that a hot path asks every time.

Django builds a query's SQL anew each time, and PostgreSQL plans it anew; for a row by its key that takes many
times as long as to fetch it. Here SQL is made at the first call in a process, its plan in each connection.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Generic, NamedTuple, TypeVar

import psycopg
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.db.backends.utils import CursorWrapper
from django.db.models import Field, Model, QuerySet
from django.db.models.query import RelatedPopulator, get_related_populators
from django.dispatch import receiver
from psycopg.sql import Literal

Row = TypeVar("Row", bound=Model)

# Values are told apart by these: numbers that no query has of its own, and that every kind of key can hold.
_FIRST_MARK = 2_147_480_000


class Planned(Generic[Row]):
    """A query for rows of a model whose values are whole numbers, given at each call.

    `build` makes it from stand-ins for them. What it makes must not depend on anything else, since it is asked
    once. Rows that the query finds are related to as its `select_related` says, and annotated.
    """

    def __init__(self, build: Callable[..., QuerySet[Row]], *, values: int) -> None:
        self._build = build
        self._marks = [_FIRST_MARK + number for number in range(values)]
        self._made: _Made | None = None

    def __call__(self, *values: int) -> list[Row]:
        """The rows, in the order of the query."""
        if self._made is None:
            self._made = _make(self._build(*self._marks), self._marks)
        made = self._made
        given = dict(zip(self._marks, values, strict=True))
        rows = fetch(made.sql, [given[mark] for mark in made.marks])
        return [made.read(row) for row in rows]  # type: ignore[misc]


Values = Sequence[object] | Mapping[str, object]


def fetch(sql: str, params: Values) -> list[tuple[object, ...]]:
    """What a statement returns, which is planned once for each connection."""
    with _cursor() as cursor:
        cursor.execute(sql, params)  # type: ignore[arg-type]
        rows: list[tuple[object, ...]] = cursor.fetchall()
        return rows


def change(sql: str, params: Values) -> int:
    """Carry out a statement that is planned once for each connection; how many rows it changed."""
    with _cursor() as cursor:
        cursor.execute(sql, params)  # type: ignore[arg-type]
        return int(cursor.rowcount)


def insert(row: Model) -> None:
    """Insert a row, which the database numbers, and give it its key. No signal is sent."""
    sql, fields = _insertion(type(row))
    ((row.pk,),) = fetch(
        sql, [field.get_db_prep_save(field.pre_save(row, add=True), connection) for field in fields]
    )
    row._state.adding, row._state.db = False, connection.alias


def store(row: Model, *names: str) -> None:
    """Save these fields of a row, and no others. No signal is sent."""
    sql, fields = _storing(type(row), names)
    values = [field.get_db_prep_save(getattr(row, field.attname), connection) for field in fields]
    change(sql, [*values, row.pk])


@cache
def _storing(model: type[Model], names: tuple[str, ...]) -> tuple[str, list[Field[object, object]]]:
    fields = [field for field in model._meta.concrete_fields if field.name in names]
    assert len(fields) == len(names), f"{model.__name__} has not all of {names}"
    columns = ", ".join(f'"{field.column}" = %s' for field in fields)
    return f'UPDATE "{model._meta.db_table}" SET {columns} WHERE id = %s', fields


@cache
def _insertion(model: type[Model]) -> tuple[str, list[Field[object, object]]]:
    fields = [field for field in model._meta.concrete_fields if not field.primary_key]
    names = ", ".join(f'"{field.column}"' for field in fields)
    marks = ", ".join(["%s"] * len(fields))
    table = model._meta.db_table
    return f'INSERT INTO "{table}" ({names}) VALUES ({marks}) RETURNING id', fields


class _Made(NamedTuple):
    """A query's SQL, and how a row of its answer becomes an object."""

    sql: str
    marks: list[int]  # of the values that it wants, in order
    model: type[Model]
    names: list[str]
    columns: slice
    related: list[RelatedPopulator]
    annotations: dict[str, int]
    converters: list[tuple[int, Sequence[Callable[..., object]], object]]

    def read(self, row: Sequence[object]) -> Model:
        values = list(row)
        for place, functions, expression in self.converters:
            for function in functions:
                values[place] = function(values[place], expression, connection)
        read = self.model.from_db(connection.alias, self.names, values[self.columns])
        for one in self.related:
            one.populate(values, read)
        for name, place in self.annotations.items():
            setattr(read, name, values[place])
        return read


def _make(query: QuerySet[Row], marks: Sequence[int]) -> _Made:
    compiler = query.query.get_compiler(connection=connection)
    sql, params = compiler.as_sql()
    select, info = compiler.select, compiler.klass_info
    fields = info["select_fields"]
    columns = slice(fields[0], fields[-1] + 1)
    converters = compiler.get_converters([one for one, *_ in select])
    return _Made(
        sql=_write_out(sql, params, marks),
        marks=[one for one in params if one in marks],
        model=info["model"],
        names=[one.target.attname for one, *_ in select[columns]],
        columns=columns,
        related=get_related_populators(info, select, connection.alias),  # type: ignore[call-arg]
        annotations=dict(compiler.annotation_col_map or {}),
        converters=[(place, *found) for place, found in converters.items()],
    )


def _write_out(sql: str, params: Sequence[object], marks: Sequence[int]) -> str:
    """The statement with its constants in it: an index on a part of the rows is used for a part that is known."""
    connection.ensure_connection()
    first, *rest = sql.split("%s")
    words = [
        "%s" if one in marks else Literal(one).as_string(connection.connection).replace("%", "%%")
        for one in params
    ]
    return first + "".join(word + part for word, part in zip(words, rest, strict=True))


@receiver(connection_created)
def _plan_for_any_value(connection: BaseDatabaseWrapper, **_signal: object) -> None:
    """Statements of such cursors are prepared at once, and a plan is kept whatever the values.

    Left to itself, PostgreSQL plans most of our queries anew each time: it takes a plan for these very values
    for a little cheaper, and leaves out what the planning costs.
    """
    connection.connection.prepare_threshold = 0
    connection.connection.execute("SET plan_cache_mode = force_generic_plan")


def _cursor() -> CursorWrapper:
    # As connection.cursor() does, but for the class of the cursor.
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    # One that sends values apart from the statement, which only so can be planned once.
    cursor = psycopg.Cursor(connection.connection)
    make = connection.make_debug_cursor if connection.queries_logged else connection.make_cursor
    return make(cursor)  # type: ignore[arg-type]
