"""Whose turn it is at an endpoint with few places, and who is told when one becomes free."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from pipeline import services
from pipeline.ledger import capacity
from pipeline.ledger.admission import admit
from pipeline.ledger.capacity import Rest, tell_waiting
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
    """So many calls in flight, of a worker that is alive or lost."""
    run = start()
    ends = timezone.now() + timedelta(seconds=20 if alive else -1)
    Run.objects.filter(pk=run.pk).update(state="running", lease_until=ends)
    for number in range(calls):
        call = ModelCall.objects.create(
            key=f"{run.pk}-{number}",
            run=run,
            stage="describe",
            round=number,
            endpoint=endpoint,
            request={},
        )
        Attempt.objects.create(call=call, number=1, fence=1)


def given(run: Run, endpoint: Endpoint, *, wanted: int = 1) -> int:
    """How many tries of the run are admitted, 0 where it has to wait; they end at once, and it waits as before."""
    before = Run.objects.get(pk=run.pk).waits_for_id
    lease = run_leases.claim(run.pk)
    assert lease is not None
    calls = [
        ModelCall(
            key=f"asked-{run.pk}-{number}",
            run=run,
            stage="generate",
            round=number,
            endpoint=endpoint,
            request={},
        )
        for number in range(wanted)
    ]
    try:
        return len(admit(lease, endpoint, calls).tries)
    except Rest as rest:
        assert rest.waits_for == endpoint.pk
        assert not ModelCall.objects.filter(key__startswith=f"asked-{run.pk}-").exists()
        return 0
    finally:
        ModelCall.objects.filter(key__startswith=f"asked-{run.pk}-").delete()
        run_leases.release(lease, waits_for=before)


@pytest.mark.parametrize(
    ("busy", "wanted", "expected"),
    [
        pytest.param(0, 2, 2, id="a pair finds two"),
        pytest.param(1, 2, 1, id="a pair takes the one there is"),
        pytest.param(2, 1, 0, id="none free"),
    ],
)
def test_calls_in_flight_are_counted_over_all_workers(
    endpoint: Endpoint, busy: int, wanted: int, expected: int
) -> None:
    occupy(endpoint, calls=busy)
    assert given(start(), endpoint, wanted=wanted) == expected


def test_what_a_run_waits_for_is_forgotten_when_it_is_admitted(endpoint: Endpoint) -> None:
    run = start(waits_for=endpoint)
    lease = run_leases.claim(run.pk)
    assert lease is not None
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
    assert lease is not None
    Run.objects.update(fence=lease.fence + 1)
    call = ModelCall(key="k", run=run, stage="generate", endpoint=endpoint, request={})
    with pytest.raises(run_leases.LostLease):
        admit(lease, endpoint, [call])
    assert not ModelCall.objects.exists()


def test_a_lost_workers_calls_hold_no_place(endpoint: Endpoint) -> None:
    occupy(endpoint, calls=2, alive=False)
    assert given(start(), endpoint) == 1


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


def test_as_many_are_told_as_there_are_places_and_none_twice(endpoint: Endpoint) -> None:
    waiting = [start(waits_for=endpoint).pk for _ in range(3)]
    assert tell_waiting(endpoint.pk) == waiting[:2]
    assert tell_waiting(endpoint.pk) == []
    Run.objects.update(told_at=timezone.now() - dispatch.TOLD_AGAIN - timedelta(seconds=1))
    assert tell_waiting(endpoint.pk) == waiting[:2], "what got lost is told again"


def test_nobody_is_told_while_the_endpoint_rests_or_the_batch_is_paused(endpoint: Endpoint) -> None:
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
