"""PostgreSQL advisory locks, for work that must not run concurrently."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

# Keys of PostgreSQL's advisory locks.
FILL_VECTORS = 7_403_272
COPY_OFFLINE = 7_403_273
DISTRIBUTE_EVENTS = 7_403_274
NOTE_PASSING_TIME = 7_403_275
WRITE_MIRROR = 7_403_276
# The lock name for creating an account or a configuration by name.
NEW_NAMES = "new names"


def lock_name(name: str) -> None:
    """Lock a name until the end of the transaction, so that a lookup of the name stays valid."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [name])


@contextmanager
def one_at_a_time(subject: str, key: int, other: int) -> Iterator[None]:
    """Wait until no other request holds the lock on this subject, and hold it until the end of the block."""
    keys = (f"{subject} {key}", other)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(hashtext(%s), %s)", keys)
        try:
            yield
        finally:
            cursor.execute("SELECT pg_advisory_unlock(hashtext(%s), %s)", keys)


@contextmanager
def only_one(key: int) -> Iterator[bool]:
    """Try to get the lock until the end of the block, and yield whether this process got it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [key])
        [is_mine] = cursor.fetchone()
        try:
            yield is_mine
        finally:
            if is_mine:  # a killed worker loses it with its connection
                cursor.execute("SELECT pg_advisory_unlock(%s)", [key])
