"""Tests that leases are renewed despite other locks, and that they expire by the database's clock."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta, tzinfo

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import OperationalError, connection, models, transaction
from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone
from pytest_django import Settings

from core.process import owner
from pipeline.execution import run_worker
from pipeline.ledger.admission import admit
from pipeline.ledger.capacity import RunMustWait
from pipeline.ledger.model_calls import OpenedAttempt, settle_attempts
from pipeline.llm.types import Failed, FailureKind, Target
from pipeline.models import Attempt, Endpoint, ModelCall, Run, Stage, Worker
from pipeline.scheduling import run_leases
from pipeline.scheduling.heartbeat import Heartbeat, renew
from review import services as review
from review.models import Assignment
from review.queue.assignment_leases import expire_leases, keep_alive
from tests.locks import wait_for_lock
from tests.pipeline.rows import queue_run
from tests.standin_process import StandIn

SOON = timedelta(seconds=1)


def hold() -> run_leases.Lease:
    run = queue_run()
    return run_leases.claim(run.pk)


def let_run_out_soon() -> None:
    Run.objects.update(lease_until=timezone.now() + SOON)


def is_renewed(lease: run_leases.Lease) -> bool:
    return Run.objects.get(pk=lease.run_id).lease_until > timezone.now() + 5 * SOON


@contextmanager
def locked(table: str, pk: int) -> Iterator[None]:
    """Lock the row from another connection during the block."""
    held, done = threading.Event(), threading.Event()

    def lock() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"SELECT FROM {table} WHERE id = %s FOR NO KEY UPDATE", [pk])
            held.set()
            done.wait(30)
        connection.close()

    thread = threading.Thread(target=lock)
    thread.start()
    assert held.wait(60)
    try:
        yield
    finally:
        done.set()
        thread.join()


@pytest.mark.django_db(transaction=True)
def test_a_run_that_is_locked_keeps_no_other_waiting() -> None:
    stuck, other = hold(), hold()
    let_run_out_soon()
    with locked("pipeline_run", stuck.run_id):
        began = time.monotonic()
        assert renew([stuck, other]) == {stuck.run_id}, "come back to this one"
        assert time.monotonic() - began < 20, "the lock is held for longer"
        assert is_renewed(other) and not is_renewed(stuck)
    assert renew([stuck]) == set()
    assert is_renewed(stuck)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_beat_comes_back_to_what_was_locked(settings: Settings) -> None:
    settings.SCRIPTSMITH_RUN_LEASE_SECONDS = 32
    stuck = hold()
    let_run_out_soon()
    beat = Heartbeat()
    with beat.keeping(stuck):
        with locked("pipeline_run", stuck.run_id):
            time.sleep(8.5)  # a heartbeat is due after 8 s
            assert not is_renewed(stuck)
        deadline = time.monotonic() + 7  # the next heartbeat is due after 16 s
        while not is_renewed(stuck):
            assert time.monotonic() < deadline
            time.sleep(0.05)


@pytest.mark.django_db(transaction=True)
def test_who_asks_for_a_place_waits_for_nobody_who_has_the_endpoint() -> None:
    lease, demo = hold(), Endpoint.objects.get(name="demo")
    call = ModelCall(key="k", run_id=lease.run_id, stage="generate", endpoint=demo, request={})
    noted: list[int] = []

    def ask() -> None:
        noted.append(len(admit(lease, demo, [call]).tries))
        connection.close()

    with locked("pipeline_endpoint", demo.pk):
        asking = threading.Thread(target=ask)
        asking.start()
        asking.join(10)
        assert noted == [1]
    asking.join(10)


@pytest.mark.django_db(transaction=True)
def test_who_waits_for_an_endpoint_holds_no_run() -> None:
    lease, demo = hold(), Endpoint.objects.get(name="demo")
    call = ModelCall(key="k", run_id=lease.run_id, stage="generate", endpoint=demo, request={})
    (attempt,) = admit(lease, demo, [call]).tries
    opened = OpenedAttempt(call, attempt, Target("demo", "http://127.0.0.1:9", "demo", 1.0), {})
    let_run_out_soon()
    settled: list[object] = []

    def end_try() -> None:
        settled.extend(
            settle_attempts(lease, [(opened, Failed(FailureKind.BUSY, "Busy."))]).values()
        )
        connection.close()

    with locked("pipeline_endpoint", demo.pk):
        ending = threading.Thread(target=end_try)
        ending.start()
        wait_for_lock()
        assert renew([lease]) == set()
        assert is_renewed(lease)
        assert not settled
    ending.join(10)
    assert [type(one) for one in settled] == [RunMustWait]


@pytest.mark.django_db
def test_a_lease_that_was_lost_is_not_renewed_nor_come_back_to() -> None:
    mine, lost = hold(), hold()
    Run.objects.filter(pk=lost.run_id).update(fence=lost.fence + 1)
    let_run_out_soon()
    assert renew([mine, lost]) == set()
    assert is_renewed(mine) and not is_renewed(lost)


@pytest.mark.django_db
def test_worker_with_wrong_clock_keeps_its_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    real = timezone.now
    monkeypatch.setattr(timezone, "now", lambda: real() - timedelta(hours=1))
    lease = hold()
    renew([lease])
    monkeypatch.setattr(timezone, "now", lambda: real() + timedelta(hours=1))
    assert run_leases.claim(lease.run_id) is None, "nor is it taken by one that is ahead"
    monkeypatch.undo()
    assert is_renewed(lease)


def stored_times() -> dict[tuple[str, object], datetime]:
    """Return every time in every table, by column and primary key."""
    return {
        (f"{model.__name__}.{field.name}", pk): at
        for model in apps.get_models()
        for field in model._meta.get_fields()
        if isinstance(field, models.DateTimeField) and model._meta.managed
        for pk, at in model._base_manager.exclude(**{field.name: None}).values_list(
            "pk", field.name
        )
    }


def act_with_clock(
    ahead: timedelta, reviewer: User, monkeypatch: pytest.MonkeyPatch
) -> dict[str, float]:
    """Finish runs and review an item with this clock. Return the latest time in each column, in seconds."""

    class Clock(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:
            return datetime.now(tz) + ahead

    before, begun = stored_times(), datetime.now(UTC)
    monkeypatch.setattr("django.utils.timezone.datetime", Clock)
    run = run_worker.run_to_end(queue_run().pk, give_up_after=60)
    other = run_worker.run_to_end(queue_run().pk, give_up_after=60)
    held = review.claim_item(run.items.get(), by=reviewer)
    keep_alive(held, fence=held.fence)
    score = review.ScoreInput(stage="script", value=2, seen=run.drafts.get(number=1).pk)
    review.submit_score(held.item, score, by=reviewer)
    lost = review.claim_item(other.items.get(), by=reviewer)
    Assignment.objects.filter(pk=lost.pk).update(lease_until=Now() - timedelta(seconds=1))
    assert expire_leases() == 1, (
        "an expired lease is found whatever the clock of this process shows"
    )
    monkeypatch.undo()
    found: dict[str, float] = {}
    for (column, pk), at in stored_times().items():
        if before.get((column, pk)) != at:
            found[column] = max(found.get(column, -1e9), (at - begun).total_seconds())
    return found


def test_times_stored_by_a_process_with_a_wrong_clock_are_those_of_the_database(
    db: None, standin: StandIn, reviewer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test takes seconds, because a worker finishes two complete runs with each of three clocks."""
    right = act_with_clock(timedelta(), reviewer, monkeypatch)
    assert len(right) >= 20
    wrong = {}
    for minutes in (-10, 10):
        found = act_with_clock(timedelta(minutes=minutes), reviewer, monkeypatch)
        wrong |= {
            (minutes, column): seconds
            for column, seconds in found.items()
            if abs(seconds - right.get(column, seconds)) > 120
        }
    assert wrong == {}
    for model in (Attempt, Stage):
        assert not model.objects.filter(ended_at__lt=F("started_at")).exists()
    assert not Run.objects.filter(finished_at__lt=F("started_at")).exists()


@pytest.mark.django_db(transaction=True)
def test_a_worker_says_that_it_lives_while_it_has_no_run_and_takes_leave() -> None:
    beat = Heartbeat()
    beat.announce_worker(threads=72)
    try:
        deadline = time.monotonic() + 60
        while not Worker.objects.exists():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        worker = Worker.objects.get()
        assert (worker.name, worker.threads) == (owner(), 72)
        assert abs(worker.seen_at - timezone.now()) < 5 * SOON
    finally:
        beat.withdraw_worker()
    assert not Worker.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_worker_lost_long_ago_is_forgotten() -> None:
    old, recent = (
        Worker.objects.create(
            name=f"gone-{minutes}", threads=1, seen_at=timezone.now() - timedelta(minutes=minutes)
        )
        for minutes in (61, 59)
    )
    beat = Heartbeat()
    beat._worker = Worker(name="here", threads=1)
    beat._give_sign_of_life(took=0.25)
    assert set(Worker.objects.values_list("name", flat=True)) == {recent.name, "here"}
    beat._give_sign_of_life(took=0.25)
    assert Worker.objects.get(name="here").beat_milliseconds == 250
    assert old.name == "gone-61"


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_beat_survives_lost_database(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.SCRIPTSMITH_RUN_LEASE_SECONDS = 1
    lease, failures = hold(), [OperationalError("away"), OperationalError("away")]
    real = Heartbeat._renew_all

    def renew_all(self: Heartbeat, *, until: float) -> None:
        if failures:
            raise failures.pop()
        real(self, until=until)

    monkeypatch.setattr(Heartbeat, "_renew_all", renew_all)
    with Heartbeat().keeping(lease):
        time.sleep(0.6)
        settings.SCRIPTSMITH_RUN_LEASE_SECONDS = 20
        deadline = time.monotonic() + 60
        while not is_renewed(lease):
            assert time.monotonic() < deadline
            time.sleep(0.05)
    assert not failures
