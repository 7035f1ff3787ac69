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
# The lock name for creating accounts and configurations by name.
NEW_NAMES = "new names"


def lock_name(name: str) -> None:
    """Lock a name until the transaction ends, so that no other transaction can create an object with this name."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [name])


@contextmanager
def one_at_a_time(subject: str, key: int, other: int) -> Iterator[None]:
    """Acquire the lock on this subject, waiting if necessary, and release it at the end of the block."""
    keys = (f"{subject} {key}", other)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(hashtext(%s), %s)", keys)
        try:
            yield
        finally:
            cursor.execute("SELECT pg_advisory_unlock(hashtext(%s), %s)", keys)


@contextmanager
def only_one(key: int) -> Iterator[bool]:
    """Try to acquire the lock for the block, without waiting. Yield whether this process acquired it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [key])
        [is_mine] = cursor.fetchone()
        try:
            yield is_mine
        finally:
            if is_mine:  # if a worker is killed, PostgreSQL releases the lock with the connection
                cursor.execute("SELECT pg_advisory_unlock(%s)", [key])
