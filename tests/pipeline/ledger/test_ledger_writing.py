"""Tests that a worker writes the data of a call atomically, only once despite retries, and with the correct price."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from django.utils import timezone

from pipeline.clients.model_client import model_client
from pipeline.costs import pricing
from pipeline.execution import run_worker
from pipeline.ledger import model_calls
from pipeline.ledger.model_calls import OpenedAttempt, open_calls
from pipeline.llm.request_builder import RoleSpec
from pipeline.llm.types import Answered, Failed, FailureKind, Usage
from pipeline.models import Attempt, Endpoint, ModelCall, Price, Run, Spending
from pipeline.scheduling import run_leases
from pipeline.simulation.clean_run import clean_run
from pipeline.types import Mode, Question, Role, StageName
from tests.pipeline.rows import queue_run
from tests.standin_process import StandIn

pytestmark = pytest.mark.django_db

ASKED = Question(
    stage=StageName.DESCRIBE,
    role=Role.ASSESSOR,
    system="Task: describe",
    user="What does it do?",
    prompt="describe",
    prompt_version="0" * 12,
    schema={},
)
REPLY: dict[str, object] = {"content": [{"type": "text", "text": "It lists files."}]}


@pytest.fixture
def lease() -> run_leases.Lease:
    return run_leases.claim(queue_run().pk)


@pytest.fixture
def opened(lease: run_leases.Lease, standin: StandIn) -> OpenedAttempt:
    """Return an open attempt of a model that costs 2 dollars per million input tokens and 10 per million output
    tokens."""
    demo = Endpoint.objects.get(name="demo")
    Price.objects.create(
        endpoint=demo, model="dear", since=date(2020, 1, 1), input=2_000_000, output=10_000_000
    )
    role = RoleSpec(endpoint="demo", endpoint_id=demo.pk, model="dear", mode=Mode.TEXT)
    (opened,) = open_calls(lease, [(ASKED, role)], batch_id=None).outcomes.values()
    assert isinstance(opened, OpenedAttempt)
    return opened


def test_what_was_made_before_a_question_that_finds_no_place_is_kept_once(
    standin: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = queue_run()
    client = model_client()
    real = type(client).send

    def send(self: object, requests: object) -> object:
        # Block the endpoint while the first call is in flight.
        Endpoint.objects.update(blocked_until=timezone.now() + timedelta(minutes=1))
        return real(self, requests)

    monkeypatch.setattr(type(client), "send", send)
    run_worker.advance(run.pk)
    run.refresh_from_db()
    assert (run.state, run.waits_for) == ("queued", Endpoint.objects.get(name="demo"))
    draft = run.drafts.get()
    found = draft.findings.count()
    assert found and draft.number == 1
    assert list(run.calls.values_list("stage", "outcome")) == [("generate", "read")]
    assert run.stages.get(name="check").draft == draft
    monkeypatch.undo()
    Endpoint.objects.update(blocked_until=None)
    Run.objects.update(not_before=None)
    assert run_worker.run_to_end(run.pk, give_up_after=60).state == "done"
    assert run.drafts.get() == draft and draft.findings.count() == found
    assert run.stages.count() == len(clean_run().stages)
    assert len(standin.calls(billed=True)) == clean_run().calls


def test_attempt_is_counted_once(lease: run_leases.Lease, opened: OpenedAttempt) -> None:
    Run.objects.update(crashes=2)
    answered = Answered(REPLY, Usage(input=100, output=10), "req-1", 1_200)
    first = model_calls.settle_attempts(lease, [(opened, answered)])
    ended = Attempt.objects.get()
    assert model_calls.settle_attempts(lease, [(opened, answered)]) == first
    late = Failed(FailureKind.TIMEOUT, "Too slow.", possibly_billed=True)
    model_calls.settle_attempts(lease, [(opened, late)])
    attempt = Attempt.objects.get()
    assert (attempt.outcome, attempt.ended_at) == ("answered", ended.ended_at)
    assert (attempt.request_id, attempt.milliseconds) == ("req-1", 1_200)
    call = ModelCall.objects.get()
    assert (call.state, call.reply) == ("done", REPLY)
    assert Spending.objects.get().attempts == 1
    assert Run.objects.get().crashes == 0, "an answer shows that the worker lives"


def test_who_lost_the_run_ends_nothing(lease: run_leases.Lease, opened: OpenedAttempt) -> None:
    Run.objects.update(fence=lease.fence + 1)
    with pytest.raises(run_leases.LostLease):
        model_calls.settle_attempts(lease, [(opened, Answered(REPLY, Usage(input=1)))])
    assert Attempt.objects.get().ended_at is None and ModelCall.objects.get().reply is None
    assert not Spending.objects.exists()


@pytest.mark.parametrize(
    "usage",
    [
        Usage(),
        Usage(input=1_000, output=500),
        Usage(cache_read=5, cache_write=1),  # a half is rounded up
        Usage(cache_read=4, cache_write=1),  # less than half is rounded down
        Usage(input=2**31 - 1, output=2**31 - 1),  # intermediate results exceed 64 bits
    ],
    ids=str,
)
def test_the_cost_that_is_written_is_the_one_that_pages_foretell(
    lease: run_leases.Lease, opened: OpenedAttempt, usage: Usage
) -> None:
    price = Price.objects.get(model="dear")
    price.input, price.output, price.cache_read, price.cache_write = 10**10, 10**10, 50_000, 250_000
    price.save()
    model_calls.settle_attempts(lease, [(opened, Answered(REPLY, usage))])
    attempt = Attempt.objects.get()
    assert (attempt.cost, attempt.price_since) == (pricing.cost_of(usage, price), price.since)
