"""Many rows from a few: what was made through the models is multiplied in the database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.db import connection
from django.db.models import Model

# Further apart than any row has a number.
_STRIDE = 10_000_000


def multiply(
    models: Sequence[type[Model]], copies: int, *, own: Mapping[str, str] | None = None
) -> None:
    """Afterwards there are so many of each row; copies refer to the copies made with them.

    `own` is, by column, the SQL of what each copy has for itself; `copy` counts them.
    """
    for model in models:
        names, values = [], []
        for field in model._meta.concrete_fields:
            names.append(f'"{field.column}"')
            if field.primary_key or field.related_model in models:
                values.append(f'"{field.column}" + {_STRIDE}::bigint * copy')
            else:
                values.append((own or {}).get(field.name, f'"{field.column}"'))
        table = model._meta.db_table
        with connection.cursor() as cursor:
            cursor.execute(
                f'INSERT INTO "{table}" ({", ".join(names)}) SELECT {", ".join(values)}'
                f' FROM "{table}", generate_series(1, {copies - 1}) AS copy'
            )
