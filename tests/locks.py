"""Wait until a session of this test's database is waiting for a lock."""

from __future__ import annotations

import time

from django.db import connection

# Sessions of other databases on this server also wait for locks. A row lock has no database, so the query uses the
# table lock of the same session.
_WAITING = """
    SELECT EXISTS (
        SELECT FROM pg_locks AS wanted JOIN pg_locks AS held USING (pid)
        WHERE NOT wanted.granted
          AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    )
"""


def wait_for_lock() -> None:
    """Return once a session is waiting for a lock, or raise AssertionError after 20 s."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        with connection.cursor() as cursor:
            cursor.execute(_WAITING)
            if cursor.fetchone()[0]:
                return
        time.sleep(0.02)
    raise AssertionError("no session waits for a lock")
