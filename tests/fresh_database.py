"""Create databases for single tests as copies of the migrated template, and switch to databases by name."""

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
    """Create a migrated database with this name, use it in the block, then drop it."""
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as server:
        server.execute(f'DROP DATABASE IF EXISTS "{name}"')
        server.execute(f'CREATE DATABASE "{name}" TEMPLATE {TEMPLATE}')
        try:
            with used_database(name):
                yield
        finally:
            server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@contextmanager
def used_database(name: str) -> Iterator[None]:
    """Use the database with this name in the block. This does not work inside a transaction."""
    assert not connection.in_atomic_block
    before = connection.settings_dict["NAME"]
    try:
        _turn_to(name)
        yield
    finally:
        _turn_to(before)


def _turn_to(name: str) -> None:
    connection.close()
    connection.settings_dict["NAME"] = name
    # Primary keys start at 1 in each database, so cached rows of two databases would be confused.
    cache.clear()
