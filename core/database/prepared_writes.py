"""INSERT and UPDATE statements that are compiled once per process, prepared once per connection and sent together.

With `save`, Django would build the SQL and PostgreSQL would plan it each time. Use this module only for data that every
review writes. The module does not send signals, because our models do not use them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import Field, Model

from core.database.prepared import execute


class Write(NamedTuple):
    """A statement with named values. For an INSERT, `new` is the row, which gets its key when stored."""

    sql: str
    values: Mapping[str, object]
    new: Model | None = None


def insert(row: Model) -> Write:
    """Return the write that inserts a row like `save(force_insert=True)`. The database assigns the key."""
    return Write(
        _insert_into(type(row)), _values(row, row._meta.local_concrete_fields, add=True), row
    )


def update(row: Model, names: Sequence[str]) -> Write:
    """Return the write that updates these fields of a row like `save(update_fields=...)`."""
    fields = [row._meta.pk, *map(row._meta.get_field, names)]
    return Write(_update_of(type(row), tuple(names)), _values(row, fields, add=False))


def store(*writes: Write) -> None:
    """Execute the writes, each to a different table, in one statement. Only the first write may be an INSERT."""
    values: dict[str, object] = {}
    for write in writes:
        values |= write.values
    cursor = execute(_joined(*(write.sql for write in writes)), values)
    if (row := writes[0].new) is not None:
        (row.pk,) = cursor.fetchone()
        row._state.adding, row._state.db = False, DEFAULT_DB_ALIAS


@cache
def _joined(first: str, *others: str) -> str:
    if not others:
        return first
    *between, last = others
    parts = ", ".join(f"write_{at} AS ({sql})" for at, sql in enumerate([first, *between]))
    key = " RETURNING (SELECT id FROM write_0)" if " RETURNING " in first else ""
    return f"WITH {parts} {last}{key}"


@cache
def _insert_into(model: type[Model]) -> str:
    fields = [one for one in model._meta.local_concrete_fields if not one.primary_key]
    columns, marks = ", ".join(map(_column, fields)), ", ".join(map(_placeholder, fields))
    table = connection.ops.quote_name(model._meta.db_table)
    return f"INSERT INTO {table} ({columns}) VALUES ({marks}) RETURNING {_column(model._meta.pk)} AS id"


@cache
def _update_of(model: type[Model], names: tuple[str, ...]) -> str:
    fields: list[Any] = [model._meta.get_field(name) for name in names]
    changes = ", ".join(f"{_column(one)} = {_placeholder(one)}" for one in fields)
    table, key = connection.ops.quote_name(model._meta.db_table), model._meta.pk
    return f"UPDATE {table} SET {changes} WHERE {_column(key)} = {_placeholder(key)}"


def _column(field: Field[Any, Any]) -> str:
    return connection.ops.quote_name(str(field.column))


def _placeholder(field: Field[Any, Any]) -> str:
    return f"%({_name(field)})s"


def _name(field: Field[Any, Any]) -> str:
    return f"{field.model._meta.model_name}.{field.column}"


def _values(row: Model, fields: Sequence[Any], *, add: bool) -> dict[str, object]:
    return {
        _name(field): field.get_db_prep_save(field.pre_save(row, add), connection)
        for field in fields
        if add is False or not field.primary_key
    }
