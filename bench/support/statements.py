"""A statement for the database of a measurement."""

from __future__ import annotations

from django.db import connection


def execute(statement: str) -> None:
    """Carry it out on the connection of this thread; what it sets holds there until the connection is closed."""
    with connection.cursor() as cursor:
        cursor.execute(statement)
