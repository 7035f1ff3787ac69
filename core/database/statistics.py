"""Updates the planner's statistics after a bulk insert."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import connection
from django.db.models import Model

MANY = 1_000  # rows; any plan finds fewer fast


_SHARE = 10  # one in this many of a table's rows; autovacuum also waits until a tenth has changed


def refresh_statistics(models: Iterable[type[Model]], *, added: int) -> None:
    """Run ANALYZE on the tables of these models in which `added` rows are a tenth or more.

    Autovacuum does the same within a minute. Until then, a query may get a plan for an empty table, whose time grows
    with the square of the rows. Source: PostgreSQL's manual, *Populating a Database*.
    """
    names = [model._meta.db_table for model in models]
    with connection.cursor() as cursor:
        # ANALYZE samples 30,000 rows of each table, which takes as long as importing 5,000 items.
        cursor.execute(
            "SELECT relname FROM pg_class WHERE oid = ANY(%s::regclass[]) AND reltuples <= %s",
            [names, added * _SHARE],
        )
        tables = [connection.ops.quote_name(name) for (name,) in cursor.fetchall()]
        if tables:
            cursor.execute(f"ANALYZE {', '.join(tables)}")
