"""Tests that the runs of a campaign with Message Batches advance in waves, ask each question once, and cost half as
much.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Sequence
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.db.models import Sum
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from pipeline import services as pipeline
from pipeline.execution import run_worker
from pipeline.ledger.capacity import tell_waiting
from pipeline.message_batches import background, collecting, services
from pipeline.message_batches.collecting import collect_waiting
from pipeline.message_batches.waiting import give_to_direct_calls, waiting_calls
from pipeline.models import Attempt, Batch, Endpoint, MessageBatch, ModelCall, Run, Spending
from pipeline.scheduling.batches import resume_batch
from pipeline.simulation.clean_run import clean_run
from tests.first_cases import first_cases
from tests.pipeline.message_batches.conftest import start
from tests.standin_process import StandIn

pytestmark = pytest.mark.django_db

State = MessageBatch.State
FLAGGED = "Show the ten directories in /home that take the most space, largest first"


def carry_on(runs: Sequence[Run]) -> None:
    """Advance each run as far as possible, except for sleeping runs."""
    for run in Run.objects.abandoned().filter(pk__in=[run.pk for run in runs]):
        run_worker.advance(run.pk)


def step(runs: Sequence[Run] = ()) -> None:
    """Advance runs and batches, without waiting for the next scheduled check."""
    carry_on(runs)
    MessageBatch.objects.update(next_look_at=timezone.now())
    background.advance_message_batches()


def to_the_end(runs: Sequence[Run]) -> list[Run]:
    """Repeat steps until every run has ended, while the demo model works in the background."""
    deadline = time.monotonic() + 60
    while Run.objects.unfinished().filter(pk__in=[run.pk for run in runs]).exists():
        assert time.monotonic() < deadline, list(MessageBatch.objects.values())
        step(runs)
    return list(Run.objects.filter(pk__in=[run.pk for run in runs]).order_by("pk"))


def asked(standin: StandIn) -> Counter[object]:
    """Return the number of batch answers to each request, by custom ID."""
    return Counter(call["custom_id"] for call in standin.calls(billed=True) if call["custom_id"])


def test_waves_ask_each_question_at_half_price(campaign: Batch, standin: StandIn) -> None:
    ended = to_the_end(start(campaign, 2))
    assert [run.state for run in ended] == ["done"] * 2
    waves = [2 * len(group) for group in clean_run().groups]
    assert [row.requests for row in MessageBatch.objects.order_by("pk")] == waves
    assert set(asked(standin).values()) == {1}
    assert set(asked(standin)) == set(ModelCall.objects.values_list("key", flat=True))
    tokens = standin.totals()
    full = 2 * tokens["input_tokens"] + 10 * tokens["output_tokens"]
    paid = Attempt.objects.aggregate(total=Sum("cost"))["total"]
    # The cost of each call is rounded.
    assert abs(paid - full / 2) <= len(asked(standin))
    assert Spending.objects.aggregate(total=Sum("cost"))["total"] == paid
    progress = services.progress_of(campaign)
    answered = 2 * clean_run().calls
    assert (progress.cost, progress.answered, progress.in_progress) == (paid, answered, 0)


@pytest.mark.slow
def test_the_verdict_and_the_script_are_those_of_direct_calls(campaign: Batch) -> None:
    [batched] = to_the_end(start(campaign, 1, statement=FLAGGED))
    [direct] = start(None, 1, statement=FLAGGED)
    direct = run_worker.run_to_end(direct.pk, give_up_after=30)
    told = [
        [
            *((draft.kind, draft.script) for draft in run.drafts.order_by("number")),
            *((stage.name, stage.outcome, stage.found) for stage in run.stages.all()),
        ]
        for run in (batched, direct)
    ]
    assert told[0] == told[1]
    assert batched.verdict == direct.verdict


def test_waiting_run_holds_no_worker_or_place(campaign: Batch, standin: StandIn) -> None:
    runs = start(campaign, 2)
    carry_on(runs)
    for run in runs:
        run.refresh_from_db()
        assert (run.state, run.owner) == ("queued", "")
        run_worker.advance(run.pk)
    assert waiting_calls().count() == 2
    assert not run_worker.sweep() and not tell_waiting(Endpoint.objects.get(name="demo").pk)
    assert standin.totals()["requests"] == 0


def test_nothing_is_sent_while_another_run_is_on_its_way(campaign: Batch) -> None:
    first, second = start(campaign, 2)
    run_worker.advance(first.pk)
    background.advance_message_batches()
    assert not MessageBatch.objects.exists()
    run_worker.advance(second.pk)
    background.advance_message_batches()
    assert MessageBatch.objects.get().requests == 2


@pytest.mark.slow
def test_twice_expired_batch_is_asked_directly(campaign: Batch, standin: StandIn) -> None:
    standin.faults(
        {"kind": "expire", "task": "batch_create", "answered": 1},
        {"kind": "expire", "task": "batch_create"},
    )
    ended = to_the_end(start(campaign, 3))
    assert [run.state for run in ended] == ["done"] * 3
    first, second = MessageBatch.objects.order_by("pk")[:2]
    # The second batch has the unanswered requests of the first batch and the next call of the answered run.
    assert (first.answered, first.expired, second.expired) == (1, 2, 3)
    direct = Attempt.objects.filter(message_batch=None)
    assert direct.count() == 2 and set(direct.values_list("call__stage", flat=True)) == {"generate"}
    assert set(asked(standin).values()) == {1}


@pytest.mark.parametrize(
    ("status", "state"), first_cases(1, [(400, "failed"), (500, "done"), (529, "done")])
)
def test_a_request_that_failed_is_judged_like_a_direct_call(
    campaign: Batch, standin: StandIn, status: int, state: str
) -> None:
    standin.faults({"kind": "status", "status": status, "task": "describe"})
    ended = to_the_end(start(campaign, 2))
    assert sorted(run.state for run in ended) == sorted([state, "done"])
    assert MessageBatch.objects.get(errored=1).answered == 1
    assert set(asked(standin).values()) == {1}


def test_a_batch_that_is_too_large_is_halved(campaign: Batch) -> None:
    runs = start(campaign, 4)
    for run in runs:
        run.action.environment = "x" * 30_000
        run.action.save(update_fields=["environment"])
    carry_on(runs)
    for _ in range(4):
        step()
    sizes = sorted(MessageBatch.objects.values_list("requests", flat=True))
    assert sizes == [2, 2]


def test_a_busy_server_gets_the_same_batch_later(campaign: Batch, standin: StandIn) -> None:
    standin.faults({"kind": "status", "status": 429, "retry_after": 40, "task": "batch_create"})
    carry_on(runs := start(campaign, 1))
    background.advance_message_batches()
    row = MessageBatch.objects.get()
    assert (row.state, row.remote_id) == (State.PREPARED, "")
    assert (row.next_look_at - timezone.now()).total_seconds() > 30
    to_the_end(runs)
    assert MessageBatch.objects.count() == clean_run().calls_on_the_path
    assert set(asked(standin).values()) == {1}


@pytest.mark.slow
def test_batches_that_are_refused_pause_the_campaign_with_the_reason_and_go_on_when_resumed(
    campaign: Batch, standin: StandIn, django_user_model: type
) -> None:
    standin.faults({"kind": "status", "status": 403, "task": "batch_create", "message": "No."})
    carry_on(runs := start(campaign, 2))
    background.advance_message_batches()
    campaign.refresh_from_db()
    assert campaign.paused_at is not None and "No." in campaign.paused_why
    assert MessageBatch.objects.get().state == State.FAILED
    assert set(Run.objects.values_list("state", flat=True)) == {"queued"}
    resume_batch(campaign, by=django_user_model.objects.create_user("boss"))
    assert [run.state for run in to_the_end(runs)] == ["done"] * 2


@pytest.mark.slow
def test_cut_results_are_read_again(campaign: Batch, standin: StandIn) -> None:
    standin.faults({"kind": "death", "task": "batch_results"})
    to_the_end(start(campaign, 3))
    assert set(asked(standin).values()) == {1}
    needed = 3 * clean_run().calls
    assert Attempt.objects.filter(outcome="answered").count() == ModelCall.objects.count() == needed


def test_a_campaign_that_is_cancelled_takes_back_what_nobody_answered(
    campaign: Batch, standin: StandIn, django_user_model: type
) -> None:
    standin.faults({"kind": "slow", "seconds": 60, "task": "batch_create"})
    carry_on(start(campaign, 2))
    background.advance_message_batches()
    boss = django_user_model.objects.create_user("boss")
    assert services.cancel_message_batches(campaign, by=boss) == 1
    Batch.objects.filter(pk=campaign.pk).update(paused_at=timezone.now())
    deadline = time.monotonic() + 20
    while MessageBatch.objects.get().state != State.DONE:
        assert time.monotonic() < deadline
        step()
    row = MessageBatch.objects.get()
    assert (row.cancelled, row.answered, standin.totals()["billed"]) == (2, 0, 0)
    assert not Attempt.objects.exclude(cost=None).exists()


def test_switched_off_the_rest_is_asked_directly(campaign: Batch, standin: StandIn) -> None:
    carry_on(runs := start(campaign, 2))
    Batch.objects.filter(pk=campaign.pk).update(uses_message_batches=False)
    to_the_end(runs)
    assert not MessageBatch.objects.exists() and not asked(standin)


def test_a_budget_bears_only_what_it_can_pay_and_pauses_the_rest(campaign: Batch) -> None:
    campaign.budget = 60_000
    campaign.save(update_fields=["budget"])
    carry_on(runs := start(campaign, 6))
    background.advance_message_batches()
    first = MessageBatch.objects.get()
    assert 0 < first.requests < 6 and first.reserved <= campaign.budget
    assert waiting_calls().count() == 6 - first.requests
    background.advance_message_batches()
    assert MessageBatch.objects.count() == 1, (
        "the rest is kept until it is known what this one took"
    )
    Batch.objects.filter(pk=campaign.pk).update(budget=1)
    for _ in range(20):
        step(runs)
        campaign.refresh_from_db()
        if campaign.paused_why:
            break
    assert campaign.paused_why == "The budget is used up."


def test_the_command_lists_them(campaign: Batch) -> None:
    carry_on(start(campaign, 2))
    background.advance_message_batches()
    told = StringIO()
    call_command("message_batches", "--unfinished", "--json", stdout=told)
    [row] = json.loads(told.getvalue())
    assert (row["campaign"], row["endpoint"], row["requests"]) == ("Through batches", "demo", 2)
    plain = StringIO()
    call_command("message_batches", stdout=plain)
    assert "Through batches" in plain.getvalue()


def test_a_prepared_batch_is_not_sent_to_an_endpoint_that_was_switched_off_and_its_runs_say_so(
    campaign: Batch, standin: StandIn, settings: Settings
) -> None:
    carry_on(runs := start(campaign, 2))
    collect_waiting()
    Endpoint.objects.update(enabled=False)
    settings.SCRIPTSMITH_ENDPOINTS = frozenset()
    ended = to_the_end(runs)
    assert standin.totals()["requests"] == 0
    assert MessageBatch.objects.get().cancelled == 2
    assert all(run.state == "failed" and "is off" in run.problem for run in ended)


def test_what_was_cancelled_before_a_batch_is_sent_does_not_leave(
    campaign: Batch, standin: StandIn, django_user_model: type
) -> None:
    boss = django_user_model.objects.create_user("boss")
    carry_on(runs := start(campaign, 3))
    collect_waiting()
    gone, erased, stays = runs
    for run in (gone, erased):
        pipeline.cancel_run(run, by=boss)
    pipeline.erase_action(erased.action, by=boss)
    background.advance_message_batches()
    row = MessageBatch.objects.get()
    assert (row.state, row.requests) == (State.IN_PROGRESS, 1)
    to_the_end([stays])
    assert set(asked(standin)) == set(stays.calls.values_list("key", flat=True))


def test_nothing_is_erased_while_a_question_of_it_is_in_a_batch(
    campaign: Batch, standin: StandIn, client: Client, administrator: User
) -> None:
    standin.faults({"kind": "slow", "seconds": 60, "task": "batch_create"})
    [run] = start(campaign, 1)
    carry_on([run])
    background.advance_message_batches()
    pipeline.cancel_run(run, by=administrator)
    client.force_login(administrator)
    page = client.post(f"/actions/{run.action_id}/erase/", {"confirmed": f"erase {run.action_id}"})
    assert page.status_code == 409
    assert "A model call is in a message batch. Wait until the batch ends." in page.text
    run.action.refresh_from_db()
    assert run.action.statement and run.action.erased_at is None


def test_a_question_in_a_batch_is_not_asked_directly_when_its_endpoint_has_no_more_of_them(
    campaign: Batch, standin: StandIn
) -> None:
    standin.faults({"kind": "slow", "seconds": 60, "task": "batch_create"})
    carry_on(runs := start(campaign, 1))
    background.advance_message_batches()
    Endpoint.objects.update(has_batches=False)
    Run.objects.update(not_before=None)
    carry_on(runs)
    assert Attempt.objects.get().message_batch is not None
    assert standin.totals()["billed"] == 0 and not give_to_direct_calls()


def test_campaign_switched_to_direct_calls_collects_nothing(campaign: Batch) -> None:
    carry_on(start(campaign, 1))
    endpoint = Endpoint.objects.get(name="demo")
    Batch.objects.filter(pk=campaign.pk).update(uses_message_batches=False)
    assert collecting._collect(campaign.pk, endpoint.pk) is None
    Batch.objects.filter(pk=campaign.pk).update(uses_message_batches=True)
    Endpoint.objects.update(has_batches=False)
    assert collecting._collect(campaign.pk, endpoint.pk) is None
    assert give_to_direct_calls() == 1 and not waiting_calls()


@pytest.mark.slow
def test_a_single_question_that_is_too_large_fails_its_run_alone(campaign: Batch) -> None:
    small, large = start(campaign, 2)
    large.action.environment = "x" * 120_000
    large.action.save(update_fields=["environment"])
    large, small = to_the_end([large, small])[::-1]
    assert (small.state, large.state) == ("done", "failed")
    assert "exceeds the maximum size" in large.problem
    campaign.refresh_from_db()
    assert campaign.paused_at is None


def test_nothing_is_read_again_and_again_while_the_budget_is_kept(campaign: Batch) -> None:
    carry_on(start(campaign, 1))
    endpoint = Endpoint.objects.get(name="demo")
    Batch.objects.filter(pk=campaign.pk).update(budget=100)
    MessageBatch.objects.create(batch=campaign, endpoint=endpoint, requests=1, reserved=100)
    with CaptureQueriesContext(connection) as queries:
        assert collecting._collect(campaign.pk, endpoint.pk) is None
    assert not any('"request"' in query["sql"] for query in queries)


def test_direct_calls_leave_what_is_kept_for_batches(campaign: Batch) -> None:
    endpoint = Endpoint.objects.get(name="demo")
    Batch.objects.filter(pk=campaign.pk).update(budget=100, uses_message_batches=False)
    kept = MessageBatch.objects.create(
        batch=campaign, endpoint=endpoint, requests=1, reserved=100, state=State.IN_PROGRESS
    )
    [run] = start(campaign, 1)
    run_worker.advance(run.pk)
    run.refresh_from_db()
    campaign.refresh_from_db()
    assert not Attempt.objects.exists() and run.not_before is not None
    assert campaign.paused_at is None
    MessageBatch.objects.filter(pk=kept.pk).update(state=State.DONE, reserved=0)
    Run.objects.update(not_before=None)
    run_worker.advance(run.pk)
    assert Attempt.objects.exists()
