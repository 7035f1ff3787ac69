"""Wait until a session of this test's database waits for a lock."""

from __future__ import annotations

import time

from django.db import connection

# Other processes wait for locks in other databases of this server. A row lock names no database, so the query finds it
# through the table lock of the same session.
_WAITING = """
    SELECT EXISTS (
        SELECT FROM pg_locks AS wanted JOIN pg_locks AS held USING (pid)
        WHERE NOT wanted.granted
          AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    )
"""


def wait_for_lock() -> None:
    """Return once a session waits for a lock, or raise AssertionError after 20 s."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        with connection.cursor() as cursor:
            cursor.execute(_WAITING)
            if cursor.fetchone()[0]:
                return
        time.sleep(0.02)
    raise AssertionError("no session waits for a lock")
