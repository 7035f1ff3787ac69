"""Tests that an endpoint's next call slot goes to the right run, and that the right run is notified of a free slot."""

from __future__ import annotations

import threading
from contextlib import suppress
from datetime import timedelta

import pytest
from django.db import IntegrityError, connection
from django.utils import timezone

from pipeline import services
from pipeline.ledger import capacity
from pipeline.ledger.admission import admit
from pipeline.ledger.capacity import RunMustWait, tell_waiting
from pipeline.models import Attempt, Batch, Endpoint, ModelCall, Run
from pipeline.scheduling import dispatch, run_leases
from tests.make import make_action

pytestmark = pytest.mark.django_db


@pytest.fixture
def endpoint() -> Endpoint:
    Endpoint.objects.filter(name="demo").update(max_in_flight=2, campaign_call_at=timezone.now())
    return Endpoint.objects.get(name="demo")


def start(batch: Batch | None = None, *, waits_for: Endpoint | None = None) -> Run:
    run = services.start_run(make_action(), by=None, batch=batch, enqueue=False)
    Run.objects.filter(pk=run.pk).update(waits_for=waits_for)
    return run


def occupy(endpoint: Endpoint, *, calls: int, alive: bool = True) -> None:
    """Create this many calls in flight for a worker that is either alive or lost."""
    run = start()
    ends = timezone.now() + timedelta(seconds=20 if alive else -1)
    Run.objects.filter(pk=run.pk).update(state="running", lease_until=ends)
    for number in range(calls):
        call = make_call(run, endpoint, key=f"{run.pk}-{number}", round=number)
        call.save()
        Attempt.objects.create(call=call, number=1, fence=1)


def given(run: Run, endpoint: Endpoint, *, wanted: int = 1) -> int:
    """Return the number of the run's attempts that would be admitted (0 if the run must wait), without changing
    anything."""
    before = Run.objects.get(pk=run.pk).waits_for_id
    lease = run_leases.claim(run.pk)
    calls = [
        make_call(run, endpoint, key=f"asked-{run.pk}-{number}", round=number)
        for number in range(wanted)
    ]
    try:
        return len(admit(lease, endpoint, calls).tries)
    except RunMustWait as rest:
        assert rest.waits_for == endpoint.pk
        assert not ModelCall.objects.filter(key__startswith=f"asked-{run.pk}-").exists()
        return 0
    finally:
        ModelCall.objects.filter(key__startswith=f"asked-{run.pk}-").delete()
        run_leases.release(lease, waits_for=before)


def admitted(run: Run, endpoint: Endpoint, *, calls: int) -> list[int]:
    """Admit the run's attempts and return their slots. The attempts stay in flight."""
    lease = run_leases.claim(run.pk)
    asked = [make_call(run, endpoint, key=f"{run.pk}-{n}", round=n) for n in range(calls)]
    tries = admit(lease, endpoint, asked).tries
    places = Attempt.objects.filter(pk__in=[one.pk for one in tries]).values_list(
        "place", flat=True
    )
    return sorted(place for place in places if place is not None)


def make_call(run: Run, endpoint: Endpoint, *, key: str, round: int = 0) -> ModelCall:
    """Return an unsaved call of the run."""
    return ModelCall(key=key, run=run, stage="generate", round=round, endpoint=endpoint, request={})


@pytest.mark.parametrize(
    ("busy", "wanted", "expected"),
    [
        pytest.param(0, 2, 2, id="a pair finds two"),
        pytest.param(1, 2, 1, id="a pair takes the one there is"),
        pytest.param(2, 1, 0, id="none free"),
    ],
)
def test_open_calls_are_counted(endpoint: Endpoint, busy: int, wanted: int, expected: int) -> None:
    occupy(endpoint, calls=busy)
    assert given(start(), endpoint, wanted=wanted) == expected


def test_what_a_run_waits_for_is_forgotten_when_it_is_admitted(endpoint: Endpoint) -> None:
    run = start(waits_for=endpoint)
    lease = run_leases.claim(run.pk)
    call = ModelCall(key="k", run=run, stage="generate", endpoint=endpoint, request={})
    (attempt,) = admit(lease, endpoint, [call]).tries
    run.refresh_from_db()
    assert run.waits_for is None
    noted = Attempt.objects.get()
    assert (noted.pk, noted.number, noted.ended_at) == (attempt.pk, 1, None)
    assert noted.call.state == "open"


def test_who_lost_the_run_is_not_admitted(endpoint: Endpoint) -> None:
    run = start()
    lease = run_leases.claim(run.pk)
    Run.objects.update(fence=lease.fence + 1)
    call = ModelCall(key="k", run=run, stage="generate", endpoint=endpoint, request={})
    with pytest.raises(run_leases.LostLease):
        admit(lease, endpoint, [call])
    assert not ModelCall.objects.exists()


def test_a_lost_workers_calls_hold_no_place(endpoint: Endpoint) -> None:
    occupy(endpoint, calls=2, alive=False)
    assert given(start(), endpoint) == 1


def test_number_of_lost_workers_place_is_taken_back_when_it_is_wanted(endpoint: Endpoint) -> None:
    lost, next_run = start(), start()
    assert admitted(lost, endpoint, calls=2) == [1, 2]
    assert given(next_run, endpoint) == 0, "its lease has not run out"
    Run.objects.filter(pk=lost.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    assert admitted(next_run, endpoint, calls=2) == [1, 2]
    left = Attempt.objects.filter(call__run=lost)
    assert set(left.values_list("place", "ended_at")) == {(None, None)}, (
        "they are still to be closed"
    )


def test_ended_attempt_frees_its_place(endpoint: Endpoint) -> None:
    assert admitted(start(), endpoint, calls=2) == [1, 2]
    Attempt.objects.filter(place=1).update(ended_at=timezone.now(), outcome="answered")
    assert admitted(start(), endpoint, calls=2) == [1]
    with pytest.raises(IntegrityError, match="attempt_place_held_once"):
        Attempt.objects.filter(place=1).update(place=2)


@pytest.mark.django_db(transaction=True)
def test_of_many_who_ask_at_once_as_many_are_admitted_as_there_are_places() -> None:
    Endpoint.objects.filter(name="demo").update(max_in_flight=5)
    demo, runs = Endpoint.objects.get(name="demo"), [start() for _ in range(12)]
    together = threading.Barrier(len(runs))

    def ask(run: Run) -> None:
        with suppress(RunMustWait):
            lease = run_leases.claim(run.pk)
            together.wait(30)
            admit(lease, demo, [make_call(run, demo, key=f"{run.pk}-{n}", round=n) for n in (0, 1)])
        connection.close()

    threads = [threading.Thread(target=ask, args=[run]) for run in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    taken = Attempt.objects.order_by("place").values_list("place", flat=True)
    assert list(taken) == [1, 2, 3, 4, 5]
    assert ModelCall.objects.count() == 5, "what found no place left nothing"


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        pytest.param(None, None, "first", id="people by age"),
        pytest.param(0, None, "second", id="people before a campaign"),
        pytest.param(0, 0, "first", id="one batch by age"),
        pytest.param(0, 5, "second", id="the batch of higher priority"),
    ],
)
def test_the_last_place_goes_to_whose_turn_it_is(
    endpoint: Endpoint, first: int | None, second: int | None, expected: str
) -> None:
    def make(priority: int | None) -> Run:
        batch = None
        if priority is not None:
            batch = Batch.objects.create(name="Study", priority=priority)
        return start(batch, waits_for=endpoint)

    occupy(endpoint, calls=1)
    runs = {"first": make(first), "second": make(second)}
    other = next(name for name in runs if name != expected)
    assert given(runs[other], endpoint) == 0
    assert tell_waiting(endpoint.pk) == [runs[expected].pk]
    assert given(runs[expected], endpoint) == 1


def test_people_can_slow_a_campaign_and_not_stop_it(endpoint: Endpoint) -> None:
    occupy(endpoint, calls=1)
    people, campaign = start(waits_for=endpoint), start(Batch.objects.create(), waits_for=endpoint)
    assert given(campaign, endpoint) == 0
    Endpoint.objects.update(campaign_call_at=timezone.now() - capacity.CAMPAIGN_TURN)
    assert given(people, endpoint) == 0, "for a minute no call of a campaign was made"
    assert given(campaign, endpoint) == 1
    assert given(people, endpoint) == 1, "its turn has been"


def test_who_does_not_come_keeps_nobody_waiting(endpoint: Endpoint) -> None:
    occupy(endpoint, calls=1)
    absent, present = start(waits_for=endpoint), start(waits_for=endpoint)
    assert tell_waiting(endpoint.pk) == [absent.pk]
    assert given(present, endpoint) == 0
    Run.objects.filter(pk=absent.pk).update(told_at=timezone.now() - dispatch.TOLD_AGAIN / 2)
    assert given(present, endpoint) == 1


def test_waiting_runs_are_told_once_while_places_are_free(endpoint: Endpoint) -> None:
    waiting = [start(waits_for=endpoint).pk for _ in range(3)]
    assert tell_waiting(endpoint.pk) == waiting[:2]
    assert tell_waiting(endpoint.pk) == []
    Run.objects.update(told_at=timezone.now() - dispatch.TOLD_AGAIN - timedelta(seconds=1))
    assert tell_waiting(endpoint.pk) == waiting[:2], "what got lost is told again"
    Run.objects.update(waits_for=None)
    batch = Batch.objects.create(paused_at=timezone.now())
    start(batch, waits_for=endpoint)
    assert tell_waiting(endpoint.pk) == []
    waiting = start(waits_for=endpoint)
    Endpoint.objects.update(blocked_until=timezone.now() + timedelta(minutes=1))
    assert tell_waiting(endpoint.pk) == []
    Endpoint.objects.update(blocked_until=timezone.now())
    assert tell_waiting(endpoint.pk) == [waiting.pk]


def test_the_sweep_tells_of_what_no_worker_holds_people_first(endpoint: Endpoint) -> None:
    campaign, people = start(Batch.objects.create()), start()
    start(waits_for=endpoint)
    held = start()
    assert run_leases.claim(held.pk)
    assert dispatch.dispatch_abandoned() == [people.pk, campaign.pk]
    assert dispatch.dispatch_abandoned() == [], "it was just told"
    dispatch.forget_dispatches()
    assert dispatch.dispatch_abandoned() == [people.pk, campaign.pk]
