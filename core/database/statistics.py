"""Update the planner's statistics after a bulk insert."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import connection
from django.db.models import Model

MANY = 1_000  # with fewer rows, any plan is fast
_SHARE = 10  # a tenth of a table's rows, the same threshold as autovacuum's


def refresh_statistics(models: Iterable[type[Model]], *, added: int) -> None:
    """Run ANALYZE on each model's table if the `added` rows are at least a tenth of its rows.

    Autovacuum does the same within a minute. Until then, PostgreSQL may use a plan for an empty table, whose time is
    quadratic in the number of rows. Source: the PostgreSQL manual, *Populating a Database*.
    """
    names = [model._meta.db_table for model in models]
    with connection.cursor() as cursor:
        # Skip large tables, because ANALYZE samples 30,000 rows of each, which takes as long as importing 5,000 items.
        cursor.execute(
            "SELECT relname FROM pg_class WHERE oid = ANY(%s::regclass[]) AND reltuples <= %s",
            [names, added * _SHARE],
        )
        tables = [connection.ops.quote_name(name) for (name,) in cursor.fetchall()]
        if tables:
            cursor.execute(f"ANALYZE {', '.join(tables)}")
