"""Tests that with many runs and few call slots, no limit is exceeded, pairs of calls share one slot, and all runs
end.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from django.db import OperationalError, connection

from pipeline.clients.model_client import model_client
from pipeline.execution import run_worker
from pipeline.ledger import model_calls
from pipeline.models import Attempt, Endpoint, Run
from pipeline.scheduling import run_leases
from pipeline.simulation.clean_run import clean_run
from tests.pipeline.rows import make_call, queue_run
from tests.standin_process import StandIn

pytestmark = pytest.mark.django_db


def most_at_once(standin: StandIn) -> int:
    """Return the maximum number of calls that the model answered at the same time."""
    steps = [(call["started"], 1) for call in standin.calls()]
    steps += [(call["ended"], -1) for call in standin.calls()]
    at_once = [0]
    for _when, step in sorted(steps):
        at_once.append(at_once[-1] + step)
    return max(at_once)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("places", [pytest.param(1, id="one place"), pytest.param(2, id="two")])
def test_workers_share_places_without_waiting(standin: StandIn, places: int) -> None:
    Endpoint.objects.update(max_in_flight=places)
    standin.faults({"kind": "delay", "seconds": 0.05, "count": None})
    runs = [queue_run().pk for _ in range(3)]

    def carry(run: int) -> None:
        run_worker.run_to_end(run, give_up_after=60)
        connection.close()

    threads = [threading.Thread(target=carry, args=(run,)) for run in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert set(Run.objects.values_list("state", flat=True)) == {"done"}
    assert most_at_once(standin) <= places
    needed = clean_run().calls * len(runs)
    assert len(standin.calls(billed=True)) == needed, "no call is made for nothing"
    assert not Attempt.objects.exclude(outcome="answered").exists()


def test_who_leaves_its_place_tells_who_waits_for_it(standin: StandIn) -> None:
    Endpoint.objects.update(max_in_flight=1)
    first, waiting = queue_run(), queue_run()
    Run.objects.filter(pk=waiting.pk).update(waits_for=Endpoint.objects.get(name="demo"))
    run_worker.advance(first.pk)
    first.refresh_from_db()
    waiting.refresh_from_db()
    assert first.state == "done"
    assert waiting.told_at is not None, "not the sweep, but the one who left"


def test_who_finds_no_place_leaves_no_try_and_no_thread_behind(standin: StandIn) -> None:
    run = queue_run()
    Endpoint.objects.update(max_in_flight=1)
    other = queue_run()
    assert run_leases.claim(other.pk) is not None
    Attempt.objects.create(call=make_call(other, "generate"), number=1, fence=1)
    run_worker.advance(run.pk)
    run.refresh_from_db()
    assert (run.state, run.owner, run.waits_for.name) == ("queued", "", "demo")
    assert not run.calls.exists() and standin.calls() == []
    assert [stage.name for stage in run.stages.filter(ended_at=None)] == ["generate"]


def test_ending_worker_releases_its_run(standin: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    run = queue_run()
    client = model_client()
    real = type(client).send

    def send(self: object, requests: object) -> object:
        model_calls.draining.set()  # the signal arrives while the first call is in flight
        return real(self, requests)

    monkeypatch.setattr(type(client), "send", send)
    try:
        run_worker.advance(run.pk)
    finally:
        model_calls.draining.clear()
    run.refresh_from_db()
    assert (run.state, run.owner, run.crashes) == ("queued", "", 0)
    assert len(standin.calls()) == 1
    monkeypatch.undo()
    assert run_worker.run_to_end(run.pk, give_up_after=60).state == "done"
    calls = standin.calls(billed=True)
    assert len(calls) == clean_run().calls, "what was answered is not asked again"


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_paid_reply_outlasts_outage(standin: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    real: Callable[..., object] = model_calls.settle_attempts
    failures = iter([OperationalError("the database is unreachable")])

    def settle_attempts(*given: object) -> object:
        for failure in failures:
            raise failure
        return real(*given)

    monkeypatch.setattr(model_calls, "settle_attempts", settle_attempts)
    run = run_worker.run_to_end(queue_run().pk, give_up_after=60)
    assert run.state == "done" and run.fence == 1
    assert len(standin.calls(billed=True)) == clean_run().calls


def test_how_many_statements_a_run_takes(
    standin: StandIn, django_assert_max_num_queries: Callable[[int], object]
) -> None:
    run = queue_run()
    with django_assert_max_num_queries(60):
        run_worker.run_to_end(run.pk, give_up_after=60)
