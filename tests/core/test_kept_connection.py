"""Connections to the database that are kept: noticed when they are gone, and not asked whether they are."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import cast

import pytest
from django.db import connection

from core.database.planned import fetch
from core.database.postgres.base import DatabaseWrapper


@pytest.fixture
def kept(db: None) -> Iterator[DatabaseWrapper]:
    """A connection beside the test's own, as it was left by the request before."""
    kept = cast(DatabaseWrapper, connection.copy())
    kept.ensure_connection()
    kept.health_check_enabled = True  # type: ignore[attr-defined]
    yield kept
    kept.close()


def ask(kept: DatabaseWrapper, sql: str) -> object:
    with kept.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchone()[0]


def end(kept: DatabaseWrapper) -> None:
    """As a server that is stopped or killed."""
    pid = kept.connection.info.backend_pid
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])


def test_one_that_works_is_not_asked(kept: DatabaseWrapper) -> None:
    ask(kept, "SELECT 'the last one'")
    kept.close_if_health_check_failed()
    with connection.cursor() as cursor:
        pid = kept.connection.info.backend_pid
        cursor.execute("SELECT query FROM pg_stat_activity WHERE pid = %s", [pid])
        assert cursor.fetchone() == ("SELECT 'the last one'",)


def test_one_that_the_server_has_ended_is_made_anew(kept: DatabaseWrapper) -> None:
    before = ask(kept, "SELECT pg_backend_pid()")
    end(kept)
    kept.health_check_done = False  # type: ignore[attr-defined]
    assert ask(kept, "SELECT pg_backend_pid()") != before


def test_after_an_error_it_is_asked(kept: DatabaseWrapper) -> None:
    kept.errors_occurred = True
    kept.close_if_unusable_or_obsolete()
    assert ask(kept, "SELECT 1") == 1
    end(kept)
    kept.errors_occurred = True
    kept.close_if_unusable_or_obsolete()
    assert kept.connection is None


def test_without_a_connection_there_is_none_to_use(kept: DatabaseWrapper) -> None:
    kept.close()
    assert not kept.is_usable()


def test_one_that_was_closed_on_this_side_is_noticed_too(kept: DatabaseWrapper) -> None:
    kept.connection.close()
    kept.health_check_done = False  # type: ignore[attr-defined]
    assert ask(kept, "SELECT 1") == 1


def test_a_word_from_the_server_is_no_end(kept: DatabaseWrapper) -> None:
    with kept.cursor() as cursor:
        cursor.execute("LISTEN words")
    pid, other = kept.connection.info.backend_pid, connection.copy()
    with other.cursor() as cursor:
        cursor.execute("NOTIFY words")
    other.close()
    assert kept.is_usable() and kept.connection.info.backend_pid == pid


def test_times_are_those_that_django_reads(db: None) -> None:
    sql = "SELECT '2026-02-03 04:05:06.789+01'::timestamptz"
    ((planned,),) = fetch(sql, [])
    with connection.cursor() as cursor:
        cursor.execute(sql)
        ((plain,),) = cursor.fetchall()
    assert isinstance(planned, datetime) and isinstance(plain, datetime)
    assert planned == plain == datetime(2026, 2, 3, 3, 5, 6, 789_000, tzinfo=UTC)
    assert planned.tzinfo is plain.tzinfo is UTC
