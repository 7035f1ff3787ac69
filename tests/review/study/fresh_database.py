"""A database that has nothing in it yet but what migrations put there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from django.core.cache import cache
from django.db import connection

from tests.template import NAME as TEMPLATE


@contextmanager
def fresh_database(name: str) -> Iterator[None]:
    """Everything goes to a new database of this name until the end, when it goes; not within a transaction.

    Keys begin at 1 there, as they did elsewhere: what is kept under them in the cache would be taken for its own.
    """
    assert not connection.in_atomic_block
    before = connection.settings_dict["NAME"]
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as server:
        server.execute(f'DROP DATABASE IF EXISTS "{name}"')  # type: ignore[arg-type]
        server.execute(f'CREATE DATABASE "{name}" TEMPLATE {TEMPLATE}')  # type: ignore[arg-type]
        try:
            _turn_to(name)
            yield
        finally:
            _turn_to(before)
            server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')  # type: ignore[arg-type]


def _turn_to(name: str) -> None:
    connection.close()
    connection.settings_dict["NAME"] = name
    cache.clear()
