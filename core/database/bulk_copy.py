"""Insert many rows with COPY, which is an order of magnitude faster than bulk_create.

The caller can reserve keys first, so that rows in different tables can refer to each other.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from django.db import connection
from django.db.models import Field, Model


def next_keys(model: type[Model], count: int) -> list[int]:
    """Reserve and return `count` primary keys."""
    if not count:
        return []
    with connection.cursor() as cursor:
        # OFFSET 0 makes PostgreSQL look up the sequence once instead of for every key.
        cursor.execute(
            "SELECT array_agg(nextval(name)) FROM"
            " (SELECT pg_get_serial_sequence(%s, 'id')::regclass AS name OFFSET 0) AS sequence,"
            " generate_series(1, %s)",
            [model._meta.db_table, count],
        )
        keys: tuple[list[int]] = cursor.fetchone()
        return keys[0]


class Table:
    """A model's table, for inserting rows.

    Each row contains the values of the `varying` columns, and `same` contains the values that all rows share. Both use
    attribute names, such as `campaign_id`. Other columns have their default. With `without_key`, the database assigns
    the keys.
    """

    def __init__(
        self,
        model: type[Model],
        varying: Sequence[str],
        *,
        without_key: bool = False,
        **same: object,
    ) -> None:
        fields = {
            field.attname: field
            for field in model._meta.concrete_fields
            if not (without_key and field.primary_key)
        }
        rest = [name for name in fields if name not in varying]
        order = [fields[name].column for name in (*rest, *varying)]
        names = ", ".join(f'"{column}"' for column in order)
        self._statement = f'COPY "{model._meta.db_table}" ({names}) FROM STDIN'
        self._before = "".join(
            f"{_cell(same[name] if name in same else _default(fields[name]))}\t" for name in rest
        )

    def copy(self, rows: Sequence[Sequence[object]]) -> None:
        """Insert the rows."""
        self.copy_lines([put(*row) for row in rows])

    def copy_lines(self, lines: Sequence[str]) -> None:
        """Insert rows that are already in COPY's text format."""
        if not lines:
            return
        before = self._before
        with connection.cursor() as cursor, cursor.copy(self._statement) as copy:
            # Write all lines at once, because each write may have to wait for the thread that parses the next part.
            copy.write(before + f"\n{before}".join(lines) + "\n")


def put(*values: object) -> str:
    """Return the values as a line in COPY's text format."""
    return "\t".join(map(_cell, values))


def _default(field: Field[object, object]) -> object:
    value = field.get_default()
    return "" if value is None and not field.null else value


def _cell(value: object) -> str:
    if type(value) is str:
        # These two checks are faster than escaping, and most strings need no escaping.
        return value if value.isprintable() and "\\" not in value else _escape(value)
    if type(value) is int:
        return str(value)
    if value is None:
        return r"\N"
    if isinstance(value, bool):
        return "t" if value else "f"
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, (dict, list)):
        return _escape(json.dumps(value))
    return _escape(str(value))


def _escape(text: str) -> str:
    return text.replace("\\", r"\\").replace("\t", r"\t").replace("\n", r"\n").replace("\r", r"\r")
