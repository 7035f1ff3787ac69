"""Queries that are built once and planned once: for the few that a hot path asks every time.

Django builds a query's SQL anew each time, and PostgreSQL plans it anew; for a row by its key that takes many
times as long as to fetch it. Here SQL is made at the first call in a process, its plan in each connection.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Generic, NamedTuple, TypeVar

import psycopg
from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper
from django.db.models import Field, Model, QuerySet
from django.db.models.base import ModelState
from django.db.models.query import RelatedPopulator, get_related_populators
from psycopg.sql import Literal

from core.database.postgres.base import Cursor

Row = TypeVar("Row", bound=Model)

# Values are told apart by these: numbers that no query has of its own, and that every kind of key can hold.
_FIRST_MARK = 2_147_480_000
_LARGEST = 2**63 - 1


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
        """The rows, in the order of the query; none where a value is larger than any key."""
        if max(values) > _LARGEST:
            return []
        if self._made is None:
            self._made = _make(self._build(*self._marks), self._marks)
        made = self._made
        given = dict(zip(self._marks, values, strict=True))
        rows = fetch(made.sql, [given[mark] for mark in made.marks])
        return [made.read(row) for row in rows]  # type: ignore[misc]


Values = Sequence[object] | Mapping[str, object]


def fetch(sql: str, params: Values) -> list[tuple[object, ...]]:
    """What a statement returns, which is planned once for each connection."""
    rows: list[tuple[object, ...]] = _execute(sql, params).fetchall()
    return rows


class Statement(NamedTuple):
    """One that is yet to be carried out: its SQL, and its values in their order."""

    sql: str
    values: Sequence[object]


def carry_out(*statements: Statement) -> list[tuple[object, ...]]:
    """Carry out several in one go; what the last one returns. None of them sees what another one changes."""
    sql = _join(tuple(one.sql for one in statements))
    cursor = _execute(sql, [value for one in statements for value in one.values])
    return cursor.fetchall() if cursor.description else []


def insert(row: Model, *with_it: Statement) -> None:
    """Insert a row, which the database numbers, and give it its key; carry out some statements with it.

    No signal is sent.
    """
    sql, fields = _insertion(type(row))
    values = [field.get_db_prep_save(field.pre_save(row, add=True), connection) for field in fields]
    ((row.pk,),) = carry_out(*with_it, Statement(sql, values))
    row._state.adding, row._state.db = False, connection.alias


def store(row: Model, *names: str) -> None:
    """Save these fields of a row, and no others. No signal is sent."""
    carry_out(storing(row, *names))


def storing(row: Model, *names: str) -> Statement:
    """The statement that saves these fields of a row as they are now."""
    sql, fields = _storing(type(row), names)
    values = [field.get_db_prep_save(getattr(row, field.attname), connection) for field in fields]
    return Statement(sql, [*values, row.pk])


@cache
def _join(parts: tuple[str, ...]) -> str:
    *first, last = parts
    named = ", ".join(f"part_{number} AS ({part})" for number, part in enumerate(first))
    return f"WITH {named} {last}" if named else last


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
        read = make_row(self.model, self.names, values[self.columns])
        for one in self.related:
            _relate(one, values, read)
        for name, place in self.annotations.items():
            setattr(read, name, values[place])
        return read


def make_row(model: type[Row], names: Sequence[str], values: Sequence[object]) -> Row:
    """As `from_db`, but all values at once: they are those of the database. No signal is sent."""
    row = model.__new__(model)
    row._state = ModelState()
    row._state.adding, row._state.db = False, DEFAULT_DB_ALIAS
    row.__dict__.update(zip(names, values, strict=True))
    return row


def _relate(to: RelatedPopulator, values: Sequence[object], row: Model) -> None:
    """As `populate`: make the related row of its part of the values, or none, and tell both of each other."""
    found = None
    if values[to.cols_start + to.pk_idx] is not None:
        found = make_row(to.model_cls, to.init_list, values[to.cols_start : to.cols_end])
        for further in to.related_populators:
            _relate(further, values, found)
        to.remote_setter(found, row)
    to.local_setter(row, found)


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


def _execute(sql: str, params: Values) -> psycopg.Cursor[tuple[object, ...]] | CursorWrapper:
    """Carry out a statement; the cursor is the connection's, and holds the answer until the next one."""
    here = connections[DEFAULT_DB_ALIAS]
    here.close_if_health_check_failed()
    here.ensure_connection()
    if here.queries_logged or here.execute_wrappers:
        return _execute_watched(here, sql, params)
    here.validate_no_broken_transaction()
    native, names = _write_native(sql)
    values = [params[name] for name in names] if isinstance(params, Mapping) else params
    cursor: Cursor = here.planned_cursor  # type: ignore[attr-defined]
    with here.wrap_database_errors:
        cursor.execute(native, values)
    return cursor


def _execute_watched(here: BaseDatabaseWrapper, sql: str, params: Values) -> CursorWrapper:
    """The same as Django would, for whoever counts statements or wraps them."""
    # One that sends values apart from the statement, which only so can be planned once.
    cursor = psycopg.Cursor(here.connection)
    make = here.make_debug_cursor if here.queries_logged else here.make_cursor
    wrapped = make(cursor)  # type: ignore[arg-type]
    wrapped.execute(sql, params)  # type: ignore[arg-type]
    return wrapped


_MARK = re.compile(r"%(?:(%)|s|\((\w+)\)s)")


@cache
def _write_native(sql: str) -> tuple[bytes, list[str]]:
    """The statement with PostgreSQL's own marks ($1), which nobody has to look for at each call; and the names of
    its values in their order, where they are named.
    """
    names: list[str] = []
    count = 0

    def write(mark: re.Match[str]) -> str:
        nonlocal count
        if mark[1]:
            return "%"
        if mark[2] is None:
            count += 1
            return f"${count}"
        if mark[2] not in names:
            names.append(mark[2])
        return f"${names.index(mark[2]) + 1}"

    return _MARK.sub(write, sql).encode(), names
