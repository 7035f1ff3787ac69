"""The database's clock, which all processes use, because stored times must be comparable and machine clocks differ."""

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

# Seconds between readings. The time in between is calculated from the machine's uptime.
_MEASURED_EVERY = 60.0
_USABLE = (TransactionStatus.IDLE, TransactionStatus.INTRANS)


class _Reading(NamedTuple):
    """The database's time, and the machine's uptime just before the reading."""

    at: datetime
    uptime: float


_reading: _Reading | None = None
_process_now = timezone.now


def database_now() -> datetime:
    """Return the database's time, accurate to one round trip. Before the first reading, return this machine's time."""
    if _reading is None or _uptime() - _reading.uptime > _MEASURED_EVERY:
        _measure(connections[DEFAULT_DB_ALIAS])
    return _now_by(_reading).at if _reading else _process_now()


def use_database_clock() -> None:
    """Make `timezone.now` return the database's time, including in Django, model defaults and packages.

    Call this function before models are loaded, because their fields store a reference to `timezone.now`.
    """
    # Rename the function, because new migrations refer to it by this name.
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
        # Bypass Django's cursor, because the reading must not change the number of queries that a page executes.
        [at] = native.execute("SELECT clock_timestamp()", prepare=False).fetchone()
    except psycopg.Error:
        return
    # Any time within the round trip is correct. If the expected time is within the round trip, keep it, so that time
    # never runs backward.
    expected = _reading and _now_by(_reading)
    if not expected or not at <= expected.at <= at + timedelta(seconds=expected.uptime - began):
        expected = _Reading(at.astimezone(UTC), began)
    _reading = expected


def _now_by(reading: _Reading) -> _Reading:
    uptime = _uptime()
    return _Reading(reading.at + timedelta(seconds=uptime - reading.uptime), uptime)


def _uptime() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)
