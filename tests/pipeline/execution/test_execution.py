"""Tests for a run from statement to recommended draft, with the real SDK, the demo model and the ledger."""

from __future__ import annotations

import pytest
from django.db import connection
from django.utils import timezone

from catalog.types import Answer, Neighbour, Retrieval
from pipeline import services
from pipeline.clients.model_client import model_client
from pipeline.costs import pricing
from pipeline.execution import run_worker
from pipeline.execution.retrieval_store import retrieval_of
from pipeline.models import Attempt, DraftFinding, Endpoint, ModelCall, Run
from pipeline.runs.run_document import report_run
from pipeline.scheduling import run_leases
from pipeline.simulation.clean_run import clean_run
from tests.make import make_version
from tests.pipeline.rows import interrupt, queue_run
from tests.standin_process import StandIn

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("standin")]


def finish(run: Run) -> Run:
    return run_worker.run_to_end(run.pk, give_up_after=60)


def test_a_run_ends_with_a_recommended_draft_and_every_call_in_the_ledger(standin: StandIn) -> None:
    run = finish(queue_run())
    report = report_run(run)
    assert (run.state, run.verdict, run.demo) == ("done", "correct", True)
    assert report["recommended"] == 1
    names = [stage["name"] for stage in report["stages"]]
    assert names == list(clean_run().stages)
    asked = sorted(clean_run().asked)
    assert report["calls"] == len(asked) == len(standin.calls(billed=True))
    answered = ModelCall.objects.filter(run=run, state="done")
    assert sorted(answered.values_list("stage", flat=True)) == asked
    assert all(attempt.outcome == "answered" for attempt in Attempt.objects.filter(call__run=run))
    assert report["cost"] == 0.0


def test_carrying_out_a_finished_run_again_asks_nothing(standin: StandIn) -> None:
    run = finish(queue_run())
    before = standin.totals()
    run_worker.advance(run.pk)
    Run.objects.filter(pk=run.pk).update(state="queued", finished_at=None)
    again = finish(run)
    assert standin.totals() == before, "what was answered is never asked again"
    assert again.drafts.count() == 1 and again.stages.count() == len(clean_run().stages)


@pytest.mark.django_db(transaction=True)
def test_the_model_is_called_outside_a_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    client = model_client()
    real, seen = type(client).send, []

    def send(self: object, requests: object) -> object:
        seen.append(connection.in_atomic_block)
        return real(self, requests)

    monkeypatch.setattr(type(client), "send", send)
    finish(queue_run())
    assert seen and not any(seen)


def test_lost_worker_costs_only_its_open_call(standin: StandIn) -> None:
    run = queue_run()
    interrupt(standin, run, task="similarity")
    # A worker claims the run, opens the missing call, and is killed before the reply.
    lease = run_leases.claim(run.pk)
    call = ModelCall.objects.get(run=run, stage="similarity")
    Attempt.objects.create(call=call, number=2, fence=lease.fence)
    Run.objects.filter(pk=run.pk).update(lease_until=timezone.now())
    billed = len(standin.calls(billed=True))
    done = finish(run)
    assert done.state == "done"
    orphan = Attempt.objects.get(call=call, number=2)
    assert (orphan.outcome, orphan.possibly_billed) == ("orphaned", True)
    assert len(standin.calls(billed=True)) - billed == 1, "only similarity was missing"


def test_three_deaths_without_an_answer_in_between_need_a_person() -> None:
    run = queue_run()
    for _ in range(run_leases.MAX_CRASHES):
        Run.objects.filter(pk=run.pk).update(state="running", lease_until=timezone.now())
        lease = run_leases.claim(run.pk)
    run.refresh_from_db()
    assert lease is None and run.state == "failed"
    assert "Check the workers' log" in run.problem


def test_run_is_held_by_one_worker() -> None:
    run = queue_run()
    lease = run_leases.claim(run.pk)
    assert run_leases.claim(run.pk) is None
    Run.objects.filter(pk=run.pk).update(fence=lease.fence + 1)
    with pytest.raises(run_leases.LostLease):
        run_worker._work(lease)
    assert not run.drafts.exists()


def test_refused_run_is_resumed_by_a_person_once_the_reason_is_gone(standin: StandIn) -> None:
    standin.faults({"kind": "status", "status": 400, "task": "generate"})
    run = finish(queue_run())
    assert run.state == "failed" and "HTTP 400" in run.problem
    services.retry_run(run, by=None)
    assert finish(run).state == "done"


def test_a_busy_server_rests_the_endpoint_and_not_a_thread(standin: StandIn) -> None:
    standin.faults(
        {"kind": "status", "status": 429, "task": "generate", "headers": {"retry-after": "30"}}
    )
    run = queue_run()
    began = timezone.now()
    run_worker.advance(run.pk)
    assert (timezone.now() - began).total_seconds() < 5
    endpoint = Endpoint.objects.get(name="demo")
    assert endpoint.blocked_until and (endpoint.blocked_until - began).total_seconds() > 25
    run.refresh_from_db()
    assert run.state == "queued" and run.not_before == endpoint.blocked_until
    assert run.pk not in run_worker.sweep()


def test_a_refined_draft_keeps_its_feedback_and_findings_are_stored() -> None:
    from scriptsmith_site.demo import read_actions

    flagged = next(
        details
        for details in read_actions()
        if details["drafts"][0].get("explanation", {}).get("points")
        and details["drafts"][0]["difference"]["verdict"] == "mismatch"
        and len(details["drafts"]) == 2
    )
    run = finish(queue_run(str(flagged["statement"])))
    assert run.verdict == "incorrect"
    first, refined = run.drafts.order_by("number")
    assert refined.kind == "refined" and refined.parent == first and refined.feedback.draft == first
    assert refined.assessment.verdict in ("correct", "incorrect")
    assert (
        DraftFinding.objects.filter(draft__run=run)
        .exclude(script_sha256=first.sha256)
        .exclude(script_sha256=refined.sha256)
        .count()
        == 0
    )


def test_an_experts_feedback_is_refined_after_the_run_had_finished(reviewer: object) -> None:
    run = finish(queue_run())
    draft = run.drafts.get()
    services.ask_refinement(
        draft, by=reviewer, feedback="Use `-mtime +60` instead of `-mtime +30`."
    )
    run.refresh_from_db()
    assert run.state == "queued" and run.finished_at is not None
    done = finish(run)
    refined = done.drafts.get(kind="refined")
    assert (refined.arm, "-mtime +60" in refined.script) == ("expert", True)
    assert refined.assessment
    assert done.verdict == "correct", "the verdict stays the first assessment's"


def test_what_was_retrieved_is_recorded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    near = make_version("List the zebras", script="ls zebras\n")

    def retrieve(statement: str, *, limit: int) -> Retrieval:
        asked.append(statement)
        return Retrieval(
            statement=statement,
            answer=Answer.NONE,
            matches=(),
            neighbours=(Neighbour(near.pk, "List the zebras", "ls zebras\n", 0.5),),
            threshold=0.9,
            scoring="t",
        )

    monkeypatch.setattr("catalog.services.retrieve", retrieve, raising=False)
    run = queue_run()
    done = finish(run)
    [row] = done.matches.all()
    assert (row.version, row.answer) == (near, "none")
    assert not done.matches.answers().exists()
    [generated] = done.calls.filter(stage="generate")
    assert "ls zebras" in str(generated.request)
    Run.objects.filter(pk=run.pk).update(state="queued", finished_at=None)
    again = finish(run)
    assert len(asked) == 1
    assert retrieval_of(again).neighbours == (
        Neighbour(near.pk, "List the zebras", "ls zebras\n", 0.5),
    )


def test_cost_is_tokens_times_price() -> None:
    from pipeline.llm.types import Usage
    from pipeline.models import Price

    price = Price(input=2_000_000, output=10_000_000, cache_read=100_000, cache_write=2_500_000)
    usage = Usage(input=1_000, output=500, cache_read=10_000, cache_write=400)
    assert pricing.cost_of(usage, price) == 2_000 + 5_000 + 1_000 + 1_000
