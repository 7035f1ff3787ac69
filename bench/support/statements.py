"""Execute SQL statements in a benchmark's database."""

from __future__ import annotations

from django.db import connection


def execute(statement: str) -> None:
    """Execute the statement on this thread's connection. Settings apply until the connection is closed."""
    with connection.cursor() as cursor:
        cursor.execute(statement)
