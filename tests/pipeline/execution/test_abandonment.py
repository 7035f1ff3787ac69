"""Tests that abandoned calls close their connections and that their threads are reused."""

from __future__ import annotations

import threading
import time
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from pipeline import services
from pipeline.clients.sdk_clients import make_client
from pipeline.execution import abandonment, run_worker
from pipeline.ledger import thread_shares
from pipeline.ledger.capacity import RunMustWait
from pipeline.llm.types import Failed, Target, Trouble
from pipeline.models import Attempt, Endpoint, Run
from tests.hostile import Hostile
from tests.pipeline.rows import queue_run
from tests.standin_process import StandIn

REQUEST: dict[str, object] = {"model": "any", "max_tokens": 1, "messages": []}


def in_time(holds: object, *, seconds: float = 60.0) -> bool:
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_cancelled_runs_call_is_ended_and_its_thread_comes_back(
    hostile: Hostile, settings: object, reviewer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(abandonment, "_INTERVAL", 0.05)
    settings.SCRIPTSMITH_DEMO_MODEL_URL = hostile.url("drip")
    Endpoint.objects.update(timeout_seconds=60)
    run = queue_run("Count the files", by=reviewer)

    def carry() -> None:
        run_worker.advance(run.pk)
        connection.close()

    thread = threading.Thread(target=carry)
    thread.start()
    assert in_time(lambda: hostile.open["drip"])
    services.cancel_run(run, by=reviewer)
    thread.join(timeout=50)
    assert not thread.is_alive(), "it would have waited for a minute"
    assert in_time(lambda: not hostile.open["drip"]), "its connection is closed"
    run.refresh_from_db()
    assert run.state == "cancelled"
    assert Attempt.objects.filter(call__run=run, ended_at=None).count() == 0


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_other_runs_calls_go_on_while_one_is_cancelled(
    standin: StandIn, reviewer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(abandonment, "_INTERVAL", 0.05)
    standin.faults({"kind": "delay", "seconds": 3, "count": None})
    runs = [
        queue_run(f"Count the files in /srv/{number}", by=reviewer)
        for number in range(2)
    ]  # fmt: skip

    def carry(run: int) -> None:
        run_worker.advance(run)
        connection.close()

    threads = [threading.Thread(target=carry, args=(run.pk,)) for run in runs]
    for thread in threads:
        thread.start()
    assert in_time(lambda: len(standin.calls()) >= 2)
    services.cancel_run(runs[0], by=reviewer)
    for thread in threads:
        thread.join(timeout=120)
    assert Run.objects.get(pk=runs[1].pk).state == "done"
    assert not Attempt.objects.filter(call__run=runs[1]).exclude(outcome="answered").exists()


@pytest.mark.slow
def test_a_worker_that_must_end_closes_what_is_still_in_flight(hostile: Hostile) -> None:
    client = make_client()
    target = Target("drip", hostile.url("drip"), "key", 60.0)
    began = time.monotonic()
    timer = abandonment.abandon_calls_after(client, seconds=0.3)
    [ended] = client.send([(target, REQUEST)])
    timer.join()
    assert 0.2 < time.monotonic() - began < 50, "it would have waited for a minute"
    assert isinstance(ended, Failed)
    assert (ended.error_type, ended.message) == (Trouble.ABANDONED, "The worker had to stop.")


@pytest.fixture
def shares(monkeypatch: pytest.MonkeyPatch) -> thread_shares.ThreadQuota:
    """Return a quota of sixteen threads for multiple endpoints."""
    shares = thread_shares.ThreadQuota(16)
    monkeypatch.setattr(shares, "_several_are_on", lambda: True)
    return shares


def take(shares: thread_shares.ThreadQuota, endpoint: int, times: int) -> int:
    """Take threads for the endpoint, at most `times`, without releasing them. Return how many were available."""
    taken = 0
    for _ in range(times):
        held = shares.held({endpoint})
        try:
            held.__enter__()
        except RunMustWait:
            break
        taken += 1
        kept.append(held)
    return taken


kept: list[object] = []


def test_one_endpoint_leaves_threads_to_others(shares: thread_shares.ThreadQuota) -> None:
    assert take(shares, 1, 20) == 12, "three quarters"
    assert take(shares, 2, 20) == 1, "once so many are taken, each other gets a few"
    assert take(shares, 3, 20) == 1
    assert take(shares, 1, 1) == 0


def test_endpoint_shares_threads_with_others(shares: thread_shares.ThreadQuota) -> None:
    take(shares, 1, 11)
    with shares.held({1}):
        assert take(shares, 1, 1) == 0
    assert take(shares, 1, 1) == 1


def test_run_without_thread_waits_for_endpoint(shares: thread_shares.ThreadQuota) -> None:
    take(shares, 1, 12)
    with pytest.raises(RunMustWait) as rest, shares.held({1}):
        pass
    assert rest.value.waits_for == 1
    assert timedelta(0) < rest.value.until - timezone.now() <= timedelta(seconds=1)


@pytest.mark.django_db
@pytest.mark.parametrize(("others", "gets"), [(0, 20), (1, 12)])
def test_one_that_is_alone_may_have_all(others: int, gets: int) -> None:
    Endpoint.objects.filter(name="claude").update(enabled=bool(others))
    assert take(thread_shares.ThreadQuota(16), 1, 20) == gets
