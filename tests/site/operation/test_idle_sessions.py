"""Tests for the database sessions of a worker's idle threads, counted in PostgreSQL."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from scriptsmith_site import idle_sessions
from scriptsmith_site.idle_sessions import IdleSessions

pytestmark = pytest.mark.django_db(transaction=True)

# Another process may be running these tests in its own database.
_COUNT = """
    SELECT count(*) FROM pg_stat_activity
    WHERE application_name = 'idle-test' AND datname = current_database()
"""


@pytest.fixture
def sessions(monkeypatch: pytest.MonkeyPatch) -> IdleSessions:
    monkeypatch.setattr(idle_sessions, "IDLE_SECONDS", 0.3)
    made = IdleSessions()
    made.begin_worker()
    return made


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    """Yield a pool of four threads. Each thread closes its connection after the test."""
    together = threading.Barrier(4)

    def close() -> None:
        together.wait(60)
        connection.close()

    with ThreadPoolExecutor(4) as threads:
        yield threads
        for closed in [threads.submit(close) for _ in range(4)]:
            closed.result()


def count() -> int:
    with connection.cursor() as cursor:
        cursor.execute(_COUNT)
        return int(cursor.fetchone()[0])


def wait_for(number: int) -> None:
    deadline = time.monotonic() + 60
    while count() != number:
        assert time.monotonic() < deadline, count()
        time.sleep(0.05)


def begin(sessions: IdleSessions) -> None:
    sessions.begin_task()
    with connection.cursor() as cursor:
        cursor.execute("SET application_name = 'idle-test'")


def test_sessions_of_idle_threads_are_closed_and_that_of_a_busy_thread_stays(
    sessions: IdleSessions, pool: ThreadPoolExecutor
) -> None:
    all_began, may_end = threading.Barrier(5), threading.Event()

    def work(number: int) -> int:
        begin(sessions)
        all_began.wait(60)
        if number == 0:
            assert may_end.wait(60)
            with connection.cursor() as cursor:  # the session that existed at the start
                cursor.execute("SELECT current_setting('application_name') = 'idle-test'")
                assert cursor.fetchone() == (True,)
        sessions.end_task()
        return number

    working = [pool.submit(work, number) for number in range(4)]
    all_began.wait(60)
    assert count() == 4
    wait_for(1)
    may_end.set()
    assert [one.result() for one in working] == [0, 1, 2, 3]
    wait_for(0)


def test_thread_whose_session_was_closed_gets_a_new_one_for_its_next_task(
    sessions: IdleSessions, pool: ThreadPoolExecutor
) -> None:
    def work() -> None:
        begin(sessions)
        sessions.end_task()

    for _ in range(2):
        pool.submit(work).result()
        wait_for(0)


def test_only_worker_sessions_close(sessions: IdleSessions, pool: ThreadPoolExecutor) -> None:
    elsewhere = IdleSessions()

    def work() -> None:
        begin(elsewhere)
        elsewhere.end_task()

    pool.submit(work).result()
    time.sleep(0.8)
    assert count() == 1
