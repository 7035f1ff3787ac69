"""Advance a Run as far as possible: claim it, call models, record results and release it. A sweep finds lost runs."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models.functions import Now

from core import tracing
from core.audit import emit
from core.database.clock import database_now
from pipeline import hooks
from pipeline.clients.model_client import model_client
from pipeline.configurations.prompt_versions import templates_of
from pipeline.execution import shortening_worker
from pipeline.execution.database_ports import DatabasePorts
from pipeline.flow.ports import Assessed, DraftMade, FeedbackGiven, FlowInput, Result
from pipeline.flow.run_flow import Flow
from pipeline.ledger.capacity import RunMustWait, awaited_endpoints, tell_waiting
from pipeline.ledger.model_calls import draining
from pipeline.models import Draft, Feedback, Refinement, Run
from pipeline.scheduling.dispatch import dispatch_abandoned
from pipeline.scheduling.heartbeat import heartbeat
from pipeline.scheduling.run_leases import (
    Lease,
    LostLease,
    claim,
    release,
    retry_while_database_is_away,
)
from pipeline.types import Arm, CasesUse, DraftKind, Problem, Role, Verdict

logger = logging.getLogger(__name__)

# Only the first end counts. A later passage for a Refinement changes neither the result nor the time. The run is queued
# again if another refinement was requested in the meantime.
_FINISH = """
WITH cut_short AS (
    UPDATE pipeline_stage SET state = 'failed', outcome = 'stopped', ended_at = %(now)s
    WHERE run_id = %(run)s AND ended_at IS NULL
)
UPDATE pipeline_run AS run SET
    state = CASE
        WHEN EXISTS (
            SELECT FROM pipeline_refinement WHERE run_id = run.id AND state = 'waiting'
        ) OR EXISTS (
            SELECT FROM pipeline_shortening WHERE run_id = run.id AND state = 'waiting'
        ) THEN 'queued'
        WHEN finished_at IS NULL THEN %(state)s
        ELSE 'done'
    END,
    finished_at = coalesce(finished_at, %(now)s), owner = '', lease_until = NULL,
    problem = CASE
        WHEN finished_at IS NULL AND %(problem)s <> '' THEN %(problem)s ELSE problem
    END,
    verdict = coalesce(%(verdict)s, verdict),
    recommended_id = coalesce(%(recommended)s, recommended_id),
    answered_by_id = CASE
        WHEN %(recommended)s::bigint IS NULL THEN answered_by_id ELSE %(answered_by)s
    END,
    match_confirmed_by = CASE
        WHEN %(recommended)s::bigint IS NULL THEN match_confirmed_by ELSE %(confirmed_by)s
    END
WHERE id = %(run)s
RETURNING finished_at = %(now)s
"""


def advance(run_id: int) -> None:
    """Claim the run and advance it as far as possible. Do nothing if another worker has claimed it."""
    if draining.is_set():
        return  # The worker that replaces this one gets the run.
    lease = claim(run_id)
    if lease is None:
        return
    with heartbeat.keeping(lease):
        try:
            _work(lease)
        except RunMustWait as rest:
            _release(lease, rest)
        except LostLease:
            logger.warning("run %s was taken over by another worker", run_id)
        except Problem as problem:
            _finish(lease, state=Run.State.FAILED, problem=str(problem))
        except (OperationalError, InterfaceError):
            # The run did not cause this error. It continues when the database is reachable again.
            logger.warning("run %s waits for the database", run_id, exc_info=True)
            retry_while_database_is_away(lambda: release(lease))
        except Exception:
            # This is a bug in ScriptSmith. The lease expires, and the next claim counts a crash.
            logger.exception("run %s stopped", run_id)
            _release_after_defect(lease)
            raise


def run_to_end(run_id: int, *, give_up_after: float = 3600) -> Run:
    """Finish the run in this process, waiting for paused endpoints for at most `give_up_after` seconds."""
    deadline = time.monotonic() + give_up_after
    while True:
        run = Run.objects.get(pk=run_id)
        if not run.is_active or time.monotonic() > deadline:
            return run
        if run.not_before and run.not_before > database_now():
            time.sleep(min(1.0, (run.not_before - database_now()).total_seconds()))
        elif run.waits_for_id is not None or run.lease_until is not None:
            time.sleep(0.2)
        advance(run_id)


def sweep() -> list[int]:
    """Enqueue all runs that can continue and have no worker, and return their keys."""
    told = dispatch_abandoned()
    for endpoint_id in awaited_endpoints():
        told += tell_waiting(endpoint_id)
    return told


def _work(lease: Lease) -> None:
    run = Run.objects.select_related("action", "batch").get(pk=lease.run_id)
    with _traced(run):
        _carry_on(run, lease)


@contextmanager
def _traced(run: Run) -> Iterator[None]:
    """Trace this passage, except for runs of campaigns, whose spans would reveal verdicts."""
    if tracing.tracer is None or run.batch_id is not None or hooks.is_in_open_study(run.pk):
        yield
        return
    with tracing.span("run", {"scriptsmith.run": run.pk, "scriptsmith.origin": run.origin}):
        yield


def _carry_on(run: Run, lease: Lease) -> None:
    if run.finished_at is None:
        ports = DatabasePorts(run, lease, model_client())
        with _passage(ports):
            result = Flow(_input_of(run), ports, ports, ports).carry_out()
        _finish(lease, state=Run.State.DONE, result=result, ports=ports)
        return
    for refinement in run.refinements.filter(state=Refinement.State.WAITING).select_related(
        "draft__assessment", "feedback"
    ):
        _refine(run, lease, refinement)
    shortening_worker.carry_out(run, lease, model_client())
    _finish(lease, state=Run.State.DONE)


@contextmanager
def _passage(ports: DatabasePorts) -> Iterator[None]:
    """Commit the block's new rows if it stops early, and always release its capacity."""
    try:
        yield
    except (RunMustWait, Problem):
        ports.commit_unsaved()
        raise
    finally:
        ports.release_capacity()


def _input_of(run: Run) -> FlowInput:
    author = run.spec.get(Role.CASE_AUTHOR.value, {})
    return FlowInput(
        statement=run.action.statement,
        context=run.action.context,
        rounds=int(run.spec["rounds"]),
        uses_retrieval=run.uses_retrieval,
        uses_examples=bool(run.spec["uses_examples"]),
        confirms_matches=bool(run.spec.get("confirms_matches")),
        # Runs from releases without cases lack this key.
        cases=CasesUse(run.spec.get("cases", CasesUse.OFF)),
        case_author=author.get("model", ""),
        templates=templates_of(run.spec.get("prompts")),
    )


def _refine(run: Run, lease: Lease, refinement: Refinement) -> None:
    ports = DatabasePorts(run, lease, model_client(), refinement=refinement)
    made = _made_of(refinement.draft)
    ports.register_draft(made, refinement.draft)
    feedback = None
    if refinement.feedback:
        feedback = _given_of(refinement.feedback, made)
        ports.register_feedback(feedback, refinement.feedback)
    problem = ""
    try:
        with _passage(ports):
            Flow(_input_of(run), ports).refine_on_demand(
                _assessed_of(refinement.draft, made), feedback
            )
            ports.commit_unsaved()
    except Problem as error:
        problem = str(error)
    with transaction.atomic():
        lease.check()
        Refinement.objects.filter(pk=refinement.pk, state=Refinement.State.WAITING).update(
            state=Refinement.State.FAILED if problem else Refinement.State.DONE,
            problem=problem,
            ended_at=database_now(),
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
    ports: DatabasePorts | None = None,
) -> None:
    told: dict[str, str | int | None] = {
        **{"verdict": None, "recommended": None, "answered_by": None},
        "confirmed_by": "",
    }
    with transaction.atomic():
        lease.check()
        if result and ports:
            ports.save()
            recommended = ports.draft_of(result.recommended)
            told = {
                "verdict": result.verdict.value if result.verdict else "",
                "recommended": recommended.pk,
                "answered_by": recommended.version_id if result.matched else None,
                "confirmed_by": ports.model_of(Role.ASSESSOR) if result.confirmed else "",
            }
        with connection.cursor() as cursor:
            cursor.execute(
                _FINISH,
                {
                    "run": lease.run_id,
                    "now": database_now(),
                    "state": state.value,
                    "problem": problem,
                    **told,
                },
            )
            [is_first_end] = cursor.fetchone()
        if is_first_end:
            # Emit no event for later passages for a Refinement, because only flagged runs have such passages.
            emit(Run(pk=lease.run_id), "finished")
    if ports:
        ports.forget_committed()
    hooks.notify_run_settled(lease.run_id)


def _release(lease: Lease, rest: RunMustWait) -> None:
    retry_while_database_is_away(lambda: release(lease, until=rest.until, waits_for=rest.waits_for))
    if rest.waits_for is not None:
        # In the meantime, a slot may have become free or been reserved for another run.
        tell_waiting(rest.waits_for)


def _release_after_defect(lease: Lease) -> None:
    Run.objects.filter(pk=lease.run_id, owner=lease.owner, fence=lease.fence).update(
        lease_until=Now() + timedelta(seconds=1)
    )
