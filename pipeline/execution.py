"""Carries a Run as far as it goes now: claim, think, record, release. What is lost is swept up from the database."""

from __future__ import annotations

import logging
import time
from datetime import timedelta
from functools import cache

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.module_loading import import_string

from pipeline import hooks
from pipeline.flow import Assessed, DraftMade, FeedbackGiven, Flow, Result, Task
from pipeline.leases import Lease, LostLease, claim, heartbeat, release
from pipeline.ledger import Rest
from pipeline.llm.types import ModelClient
from pipeline.models import Draft, Feedback, Refinement, Run
from pipeline.recording import RecordedPorts
from pipeline.types import Arm, DraftKind, Problem, Verdict

logger = logging.getLogger(__name__)

SWEEP_LIMIT = 200


@cache
def model_client() -> ModelClient:
    """The client that the settings name, made at its first use: loading the SDK takes seconds."""
    client: ModelClient = import_string(settings.SCRIPTSMITH_MODEL_CLIENT)()
    return client


def advance(run_id: int) -> None:
    """Take the run up and carry it as far as it goes now; does nothing where another worker holds it."""
    lease = claim(run_id)
    if lease is None:
        return
    with heartbeat.keeping(lease):
        try:
            _work(lease)
        except Rest as rest:
            release(lease, until=rest.until)
        except LostLease:
            logger.warning("run %s was taken over", run_id)
        except Problem as problem:
            _finish(lease, state=Run.State.FAILED, problem=str(problem))
        except Exception:
            # A defect of ours, or the database went away: the lease ends, and the next claim counts a crash.
            logger.exception("run %s stopped", run_id)
            _let_go(lease)
            raise


def run_to_end(run_id: int, *, give_up_after: float = 3600) -> Run:
    """Carry the run to its end in this process, waiting where an endpoint rests; seconds until given up."""
    deadline = time.monotonic() + give_up_after
    while True:
        run = Run.objects.get(pk=run_id)
        if not run.is_active or time.monotonic() > deadline:
            return run
        if run.not_before and run.not_before > timezone.now():
            time.sleep(min(1.0, (run.not_before - timezone.now()).total_seconds()))
        advance(run_id)


def abandoned_runs() -> list[tuple[int, str]]:
    """Id and queue of the unfinished runs that no worker holds, oldest first, at most SWEEP_LIMIT."""
    runs = Run.objects.abandoned().order_by("pk").values_list("pk", "batch_id")[:SWEEP_LIMIT]
    return [(pk, Run.queue_of(batch_id)) for pk, batch_id in runs]


def _work(lease: Lease) -> None:
    run = Run.objects.select_related("action", "batch").get(pk=lease.run_id)
    if run.finished_at is None:
        ports = RecordedPorts(run, lease, model_client())
        result = Flow(_task_of(run), ports).carry_out()
        _finish(lease, state=Run.State.DONE, result=result, ports=ports)
        return
    for refinement in run.refinements.filter(state=Refinement.State.WAITING).select_related(
        "draft__assessment", "feedback"
    ):
        _refine(run, lease, refinement)
    _finish(lease, state=Run.State.DONE)


def _task_of(run: Run) -> Task:
    return Task(
        statement=run.action.statement,
        context=run.action.context,
        rounds=int(run.spec["rounds"]),
        uses_retrieval=run.uses_retrieval,
        uses_examples=bool(run.spec["uses_examples"]),
    )


def _refine(run: Run, lease: Lease, refinement: Refinement) -> None:
    ports = RecordedPorts(run, lease, model_client(), refinement=refinement)
    made = _made_of(refinement.draft)
    ports.know_draft(made, refinement.draft)
    feedback = None
    if refinement.feedback:
        feedback = _given_of(refinement.feedback, made)
        ports.know_feedback(feedback, refinement.feedback)
    problem = ""
    try:
        Flow(_task_of(run), ports).refine_on_demand(_assessed_of(refinement.draft, made), feedback)
    except Problem as error:
        problem = str(error)
    with transaction.atomic():
        lease.check()
        Refinement.objects.filter(pk=refinement.pk, state=Refinement.State.WAITING).update(
            state=Refinement.State.FAILED if problem else Refinement.State.DONE,
            problem=problem,
            ended_at=timezone.now(),
        )


def _made_of(draft: Draft) -> DraftMade:
    return DraftMade(kind=DraftKind(draft.kind), script=draft.script, round=draft.round)


def _given_of(feedback: Feedback, made: DraftMade) -> FeedbackGiven:
    return FeedbackGiven(
        draft=made,
        text=feedback.text,
        round=feedback.round,
        arm=Arm(feedback.arm),
        points=feedback.points,
    )


def _assessed_of(draft: Draft, made: DraftMade) -> Assessed:
    row = getattr(draft, "assessment", None)
    if row is None:
        return Assessed(draft=made, verdict=Verdict.UNKNOWN)
    return Assessed(
        draft=made,
        verdict=Verdict(row.verdict),
        syntax_ok=row.syntax_ok,
        functionality=row.functionality,
        similarity_reason=row.similarity_reason,
        difference_reason=row.difference_reason,
        differences=tuple(row.differences),
    )


def _finish(
    lease: Lease,
    *,
    state: Run.State,
    problem: str = "",
    result: Result | None = None,
    ports: RecordedPorts | None = None,
) -> None:
    with transaction.atomic():
        run = lease.check()
        first_time = run.finished_at is None
        run.state = state if first_time else Run.State.DONE
        run.finished_at = run.finished_at or timezone.now()
        run.owner, run.lease_until = "", None
        if run.refinements.filter(state=Refinement.State.WAITING).exists():
            # Somebody asked for a refinement while this passage ended.
            run.state = Run.State.QUEUED
        if problem and first_time:
            run.problem = problem
        if result and ports:
            run.verdict = result.verdict.value if result.verdict else ""
            run.recommended = ports.draft_of(result.recommended)
            run.answered_by_id = run.recommended.version_id if result.matched else None
        run.stages.filter(ended_at=None).update(
            state="failed", outcome="stopped", ended_at=timezone.now()
        )
        run.save(
            update_fields=[
                "state",
                "finished_at",
                "owner",
                "lease_until",
                "problem",
                "verdict",
                "recommended",
                "answered_by",
            ]
        )
    hooks.tell_settled(run.pk)


def _let_go(lease: Lease) -> None:
    Run.objects.filter(pk=lease.run_id, owner=lease.owner, fence=lease.fence).update(
        lease_until=timezone.now() + timedelta(seconds=1)
    )
