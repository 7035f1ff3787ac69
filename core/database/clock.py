"""The database's time, which all processes share, because machines' clocks differ and stored times are compared."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import psycopg
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.utils import timezone
from psycopg.pq import TransactionStatus

_MEASURED_EVERY = 60.0  # seconds; in between, the machine's uptime is added
_USABLE = (TransactionStatus.IDLE, TransactionStatus.INTRANS)


class _Reading(NamedTuple):
    """A time of the database, and the machine's uptime just before it was read."""

    at: datetime
    uptime: float


_reading: _Reading | None = None
_process_now = timezone.now


def database_now() -> datetime:
    """Return the database's time, accurate to a round trip. Before the first reading, return this process's time."""
    if _reading is None or _uptime() - _reading.uptime > _MEASURED_EVERY:
        _measure(connections[DEFAULT_DB_ALIAS])
    return _now_by(_reading).at if _reading else _process_now()


def use_database_clock() -> None:
    """Make `timezone.now` return the database's time, including in Django, model defaults and packages.

    Call it before models are loaded, because their fields keep a reference to the function.
    """
    # New migrations then refer to the function by Django's name.
    database_now.__module__, database_now.__qualname__ = timezone.__name__, "now"
    timezone.now = database_now
    connection_created.connect(_measure_new)


def _measure_new(connection: BaseDatabaseWrapper, **_signal: object) -> None:
    if connection.alias == DEFAULT_DB_ALIAS:
        _measure(connection)


def _measure(connection: BaseDatabaseWrapper) -> None:
    global _reading
    native = connection.connection
    if native is None or native.closed or native.info.transaction_status not in _USABLE:
        return
    began = _uptime()
    try:
        # Bypass Django's cursor, so that a page makes the same queries at any time.
        [at] = native.execute("SELECT clock_timestamp()", prepare=False).fetchone()
    except psycopg.Error:
        return
    # Any value within the round trip is correct. In that case, keep the previous reading, so that
    # time never runs backward.
    expected = _reading and _now_by(_reading)
    if not expected or not at <= expected.at <= at + timedelta(seconds=expected.uptime - began):
        expected = _Reading(at.astimezone(UTC), began)
    _reading = expected


def _now_by(reading: _Reading) -> _Reading:
    uptime = _uptime()
    return _Reading(reading.at + timedelta(seconds=uptime - reading.uptime), uptime)


def _uptime() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)
