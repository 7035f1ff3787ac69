"""Inserts new rows by one plain statement, because the ORM takes longer over it than the database does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import connection
from django.db.models import Field, ForeignKey, Model


def insert_rows(rows: Sequence[Model]) -> None:
    """Insert these rows of one model, which the database numbers, and give them their keys.

    What they refer to has its key by now. A row that was rolled back may be given again.
    """
    if not rows:
        return
    meta = type(rows[0])._meta
    fields = [field for field in meta.concrete_fields if not field.primary_key]
    one = f"({', '.join(['%s'] * len(fields))})"
    columns = ", ".join(f'"{field.column}"' for field in fields)
    with connection.cursor() as cursor:
        cursor.execute(
            f'INSERT INTO "{meta.db_table}" ({columns}) VALUES {", ".join([one] * len(rows))}'
            " RETURNING id",
            [_stored(field, row) for row in rows for field in fields],
        )
        for row, (pk,) in zip(rows, cursor.fetchall(), strict=True):
            row.pk, row._state.adding, row._state.db = pk, False, connection.alias


def _stored(field: Field[Any, Any], row: Model) -> Any:
    if isinstance(field, ForeignKey) and field.is_cached(row):
        # It had no key yet when the two were tied together.
        setattr(row, field.attname, getattr(getattr(row, field.name), "pk", None))
    return field.get_db_prep_save(getattr(row, field.attname), connection)
