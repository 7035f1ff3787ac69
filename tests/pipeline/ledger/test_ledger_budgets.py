"""Tests for the reasons that pause a batch, the users who can resume it, and by how much it can exceed its budget."""

from __future__ import annotations

import pytest
from auditlog.models import LogEntry
from django.contrib.auth.models import User

from core.errors import BadInput, NotAllowedNow
from pipeline import services
from pipeline.clients.model_client import model_client
from pipeline.execution import run_worker
from pipeline.models import Attempt, Batch, Endpoint, Price
from pipeline.scheduling.batches import spent_by
from pipeline.simulation.clean_run import clean_run
from tests.pipeline.rows import queue_run
from tests.standin_process import StandIn

pytestmark = pytest.mark.django_db


@pytest.fixture
def batch() -> Batch:
    """Return a batch whose budget is smaller than the price of any answer."""
    Price.objects.all().delete()
    for endpoint in Endpoint.objects.filter(name="demo"):
        for model in ("demo-smith", "demo-judge", "demo-master"):
            Price.objects.create(
                endpoint=endpoint, model=model, since="2026-01-01", input=10**6, output=10**6
            )
    return Batch.objects.create(name="Study", budget=1)


def events(batch: Batch) -> list[str]:
    return [
        entry.additional_data["event"]
        for entry in LogEntry.objects.get_for_object(batch).order_by("pk")
    ]


def test_batch_pauses_until_budget_is_raised(standin: StandIn, batch: Batch, manager: User) -> None:
    run = queue_run(batch=batch)
    run_worker.advance(run.pk)
    batch.refresh_from_db()
    run.refresh_from_db()
    assert batch.paused_at and batch.paused_why == "The budget is used up."
    assert run.state == "queued"
    assert len(standin.calls()) == 1, "the sum passes the budget by the calls in flight at most"
    assert spent_by(batch) == sum(Attempt.objects.values_list("cost", flat=True))
    run_worker.advance(run.pk)
    assert len(standin.calls()) == 1 and run.pk not in run_worker.sweep()
    with pytest.raises(NotAllowedNow):
        services.resume_batch(batch, by=manager)
    services.set_budget(batch, budget=None, by=manager)
    services.resume_batch(batch, by=manager)
    run.refresh_from_db()
    assert run.told_at is not None, "its runs are told of at once"
    assert run_worker.run_to_end(run.pk, give_up_after=60).state == "done"
    assert len(standin.calls(billed=True)) == clean_run().calls
    assert events(batch) == ["budget set", "resumed"]


def test_a_person_pauses_a_batch_before_its_next_call(
    standin: StandIn, batch: Batch, manager: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    services.set_budget(batch, budget=None, by=manager)
    run = queue_run(batch=batch)
    client = model_client()
    real = type(client).send

    def send(self: object, requests: object) -> object:
        if not standin.calls():
            services.pause_batch(batch, by=manager, why="The prompts are wrong.")
        return real(self, requests)

    monkeypatch.setattr(type(client), "send", send)
    run_worker.advance(run.pk)
    assert len(standin.calls()) == 1
    with pytest.raises(NotAllowedNow):
        services.pause_batch(batch, by=manager)
    services.resume_batch(batch, by=manager)
    with pytest.raises(NotAllowedNow):
        services.resume_batch(batch, by=manager)
    assert run_worker.run_to_end(run.pk, give_up_after=60).state == "done"
    assert events(batch) == ["budget set", "paused", "resumed"]


def test_invalid_budget_is_refused(batch: Batch, manager: User, subtests: pytest.Subtests) -> None:
    cases = {"less than nothing": -1, "all there is": 10**16}
    for name, budget in cases.items():
        with subtests.test(name):
            with pytest.raises(BadInput):
                services.set_budget(batch, budget=budget, by=manager)
            batch.refresh_from_db()
            assert batch.budget == 1 and events(batch) == []


LIMIT = {
    "kind": "status",
    "status": 429,
    "task": "generate",
    "type": "rate_limit_error",
    "error_code": "enforced_spend_limit_reached",
}


def test_spend_limit_pauses_its_batch_only(standin: StandIn, batch: Batch, manager: User) -> None:
    standin.faults(LIMIT)
    run = queue_run(batch=batch)
    run_worker.advance(run.pk)
    batch.refresh_from_db()
    assert batch.paused_at and "spend limit" in batch.paused_why
    assert Endpoint.objects.get(name="demo").blocked_until is None
    services.set_budget(batch, budget=None, by=manager)
    services.resume_batch(batch, by=manager)
    assert run_worker.run_to_end(run.pk, give_up_after=60).state == "done"


def test_a_spend_limit_rests_the_endpoint_of_people_and_says_why(standin: StandIn) -> None:
    standin.faults(LIMIT)
    run = queue_run()
    run_worker.advance(run.pk)
    run.refresh_from_db()
    endpoint = Endpoint.objects.get(name="demo")
    assert run.state == "queued" and run.waits_for == endpoint
    assert run.not_before == endpoint.blocked_until is not None
    assert "spend limit" in endpoint.blocked_why
