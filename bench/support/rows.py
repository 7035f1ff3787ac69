"""Create many rows by multiplying existing rows in the database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.db import connection
from django.db.models import Model

# Must be larger than any original row's key.
STRIDE = 10_000_000


def multiply(
    models: Sequence[type[Model]],
    copies: int,
    *,
    own: Mapping[str, str] | None = None,
    before: int = 1,
    last: Mapping[type[Model], int] | None = None,
) -> None:
    """Multiply each row up to this many copies. Foreign keys of copies refer to copies with the same number.

    `before` is the current number of copies. Only original rows are copied. `last` contains the highest key to copy for
    each model. `own` maps columns to SQL expressions for the copies' values, in which `copy` is the copy's number.
    """
    for model in models:
        names, values = [], []
        for field in model._meta.concrete_fields:
            names.append(f'"{field.column}"')
            if field.primary_key or field.related_model in models:
                values.append(f'"{field.column}" + {STRIDE}::bigint * copy')
            else:
                values.append((own or {}).get(field.name, f'"{field.column}"'))
        table = model._meta.db_table
        with connection.cursor() as cursor:
            cursor.execute(
                f'INSERT INTO "{table}" ({", ".join(names)}) SELECT {", ".join(values)}'
                f' FROM "{table}", generate_series({before}, {copies - 1}) AS copy'
                f' WHERE "{model._meta.pk.column}" <= {(last or {}).get(model, STRIDE)}'
            )
