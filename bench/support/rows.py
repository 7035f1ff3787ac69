"""Many rows from a few: what was made through the models is multiplied in the database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.db import connection
from django.db.models import Model

# Further apart than any row has a number.
STRIDE = 10_000_000


def multiply(
    models: Sequence[type[Model]],
    copies: int,
    *,
    own: Mapping[str, str] | None = None,
    before: int = 1,
    last: Mapping[type[Model], int] | None = None,
) -> None:
    """Afterwards there are so many of each row; copies refer to the copies made with them.

    `before` says how many there are by now: the rows that were made first are copied again, until there are enough;
    of those, the ones up to the key that `last` has for their table.
    `own` is, by column, the SQL of what each copy has for itself; `copy` counts them.
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
