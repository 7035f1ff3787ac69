"""What the planner knows of a table, brought up to date after many rows came at once."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import connection
from django.db.models import Model

MANY = 1_000  # rows; fewer are found fast by any plan


def refresh_statistics(models: Iterable[type[Model]]) -> None:
    """ANALYZE the tables of these models.

    Autovacuum does so within a minute. Whoever asks sooner may be given a plan for an empty table, whose time
    grows with the square of its rows. Source: PostgreSQL's manual, *Populating a Database*.
    """
    tables = ", ".join(connection.ops.quote_name(model._meta.db_table) for model in models)
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {tables}")
