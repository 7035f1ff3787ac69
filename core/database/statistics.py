"""Updates the planner's statistics after many rows were added at once."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import connection
from django.db.models import Model

MANY = 1_000  # rows; fewer are found fast by any plan


def refresh_statistics(models: Iterable[type[Model]]) -> None:
    """ANALYZE the tables of these models.

    Autovacuum does the same within a minute. Until then a query may get a plan for an empty table, which takes time
    that grows with the square of the rows. Source: PostgreSQL's manual, *Populating a Database*.
    """
    tables = ", ".join(connection.ops.quote_name(model._meta.db_table) for model in models)
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {tables}")
