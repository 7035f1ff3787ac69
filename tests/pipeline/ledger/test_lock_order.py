"""Tests that the whole pipeline locks endpoint, batch, run and spending in this order."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from pipeline import services
from pipeline.endpoints import services as endpoints
from pipeline.execution import run_worker
from pipeline.models import Attempt, Batch, Endpoint, ModelCall, Run
from pipeline.scheduling import dispatch, run_leases
from pipeline.scheduling.heartbeat import renew
from tests.pipeline.locks import locks_of, noted_locks
from tests.pipeline.rows import interrupt, queue_run
from tests.standin_process import StandIn

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("standin")]


@pytest.fixture
def locks() -> Iterator[list[list[str]]]:
    with noted_locks() as transactions:
        yield transactions


def test_run_with_and_without_a_budget_locks_in_order(locks: list[list[str]]) -> None:
    run = run_worker.run_to_end(queue_run().pk, give_up_after=60)
    assert run.state == "done"
    assert ["pipeline_run", "pipeline_spending"] in locks
    assert not any("pipeline_endpoint" in one for one in locks), "a call would wait for others"
    batch = Batch.objects.create(name="Study", budget=0)
    run_worker.advance(queue_run(batch=batch).pk)
    batch.refresh_from_db()
    assert batch.paused_at is not None


def test_call_of_campaign_notes_its_turn_in_transaction_of_its_own(locks: list[list[str]]) -> None:
    run_worker.advance(queue_run(batch=Batch.objects.create(name="Study")).pk)
    assert locks.count(["pipeline_endpoint"]) == 1, "at the first call; the next ones are too soon"
    assert Endpoint.objects.get(name="demo").campaign_call_at is not None


@pytest.mark.parametrize(
    ("fault", "tables"),
    [
        ({"status": 503}, "endpoint run"),
        ({"status": 400}, "endpoint run spending"),
        ({"status": 402, "error_code": "ramp_limit_exceeded"}, "endpoint batch run"),
    ],
)
def test_failed_try_locks_in_order(
    standin: StandIn, locks: list[list[str]], fault: dict[str, object], tables: str
) -> None:
    standin.faults({"kind": "status", "task": "generate", **fault})
    run_worker.advance(queue_run(batch=Batch.objects.create(name="Study")).pk)
    expected = [f"pipeline_{table}" for table in tables.split()]
    assert any(one[: len(expected)] == expected for one in locks), locks


def test_a_run_that_was_lost(standin: StandIn, locks: list[list[str]]) -> None:
    run = queue_run()
    interrupt(standin, run, task="describe")
    lease = run_leases.claim(run.pk)
    renew([lease])
    call = ModelCall.objects.get(run=run, stage="describe")
    Attempt.objects.create(call=call, number=2, fence=lease.fence)
    Run.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert run_worker.run_to_end(run.pk, give_up_after=60).state == "done"
    assert Attempt.objects.filter(outcome="orphaned").count() == 1


def test_what_people_do(locks: list[list[str]], administrator: User) -> None:
    batch = Batch.objects.create(name="Study")
    run, cancelled, finished = queue_run(batch=batch), queue_run(batch=batch), queue_run()
    demo = Endpoint.objects.get(name="demo")
    services.pause_batch(batch, by=administrator)
    services.set_budget(batch, budget=10**6, by=administrator)
    services.resume_batch(batch, by=administrator)
    services.cancel_run(cancelled, by=administrator)
    Run.objects.filter(pk=run.pk).update(state="failed", finished_at=timezone.now())
    services.retry_run(run, by=administrator)
    finished = run_worker.run_to_end(finished.pk, give_up_after=60)
    draft = finished.drafts.get()
    services.ask_refinement(draft, by=administrator, feedback="Quote the path.")
    services.ask_shorter(
        draft, text="1. Quote it.\n2. Say so.\n3. Test it.\n4. Do.", by=administrator
    )
    assert run_worker.run_to_end(finished.pk, give_up_after=60).refinements.get().state == "done"
    Endpoint.objects.update(blocked_until=timezone.now() + timedelta(minutes=1))
    Run.objects.filter(pk=run.pk).update(waits_for=demo)
    endpoints.wake(demo, by=administrator)
    dispatch.forget_dispatches()
    run_worker.sweep()
    assert len(locks) > 20


def test_the_other_order_is_noticed(db: None) -> None:
    run, demo = queue_run(), Endpoint.objects.get(name="demo")
    with noted_locks(), transaction.atomic():
        Run.objects.select_for_update().get(pk=run.pk)
        with pytest.raises(AssertionError, match="pipeline_endpoint is locked after pipeline_run"):
            Endpoint.objects.filter(pk=demo.pk).update(title="Demo")
    with noted_locks(), transaction.atomic():
        Endpoint.objects.filter(pk=demo.pk).update(title=demo.title)
        Run.objects.select_for_update().get(pk=run.pk)
    with (
        noted_locks(),
        transaction.atomic(),
        pytest.raises(AssertionError, match="NO KEY is missing"),
    ):
        Endpoint.objects.select_for_update().get(pk=demo.pk)
    with noted_locks() as transactions:
        Run.objects.count()
        Run.objects.filter(pk=run.pk).update(told_at=None)
    assert transactions == [[], ["pipeline_run"]]


def test_what_a_statement_locks() -> None:
    cases = {
        "nothing": ("SELECT * FROM pipeline_run WHERE id = 1", []),
        "the first of a join": (
            'SELECT "pipeline_run"."id" FROM "pipeline_run" LEFT JOIN "pipeline_batch" FOR UPDATE OF r',
            [("pipeline_run", "UPDATE")],
        ),
        "parts of a statement": (
            "WITH held AS (SELECT id FROM pipeline_run FOR NO KEY UPDATE), x AS (UPDATE pipeline_endpoint SET a = 1)",
            [("pipeline_run", "NO KEY UPDATE"), ("pipeline_endpoint", "NO KEY UPDATE")],
        ),
        "sums": (
            "INSERT INTO pipeline_spending AS kept SELECT 1 FROM closed ON CONFLICT DO UPDATE SET a = 1",
            [("pipeline_spending", "UPDATE")],
        ),
    }
    wrong = {
        name: got for name, (sql, expected) in cases.items() if (got := locks_of(sql)) != expected
    }
    assert not wrong
