"""Manage model calls. Each question is asked once, each attempt is a row, and a finished call is never repeated.

`open_calls` commits before the requests are sent. `settle_attempts` writes the attempts' results and the replies in one
transaction, which fails if the lease was lost. No transaction is open while a model is working.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from types import MappingProxyType

from django.db import transaction
from django.utils.translation import gettext as _

from core.audit import emit
from core.database.clock import database_now
from pipeline.costs.daily_spending import add_spending
from pipeline.ledger.admission import admit
from pipeline.ledger.attempt_metrics import count_attempts
from pipeline.ledger.attempt_store import close_tries
from pipeline.ledger.attempt_traces import trace_attempts
from pipeline.ledger.capacity import RunMustWait
from pipeline.ledger.outgoing_secrets import MASK_SECRETS, SecretsRule
from pipeline.ledger.retry_policy import decide_after_failure, failure_message
from pipeline.ledger.targets import target_of
from pipeline.llm.request_builder import RoleSpec, build_request, hash_call, reply_of
from pipeline.llm.types import Answered, Failed, FailureKind, Request, Target
from pipeline.models import Attempt, Batch, Endpoint, ModelCall, Refinement
from pipeline.scheduling.batches import is_used_up, kept_for_message_batches, spent_by, stop_batch
from pipeline.scheduling.run_leases import Lease
from pipeline.types import Problem, Question, Reply

# Identifies a question in its run or refinement by stage, round and sample.
Position = tuple[str, int, int]

# How often a run checks whether message batches have released a part of the budget.
_KEPT_REST = timedelta(minutes=1)

# Set when this process must exit. The process then waits for calls in flight and starts no new calls.
draining = threading.Event()


@dataclass(frozen=True)
class OpenedAttempt:
    """A recorded attempt that is about to be made."""

    call: ModelCall
    attempt: Attempt
    target: Target
    request: Request


@dataclass
class OpenedCalls:
    """The outcome for each question: a stored reply or an attempt to make.

    Questions without an outcome must wait for capacity.
    """

    outcomes: dict[Position, OpenedAttempt | Reply] = field(default_factory=dict)
    # Endpoints that have free slots for waiting runs.
    with_places: set[int] = field(default_factory=set)


def position_of(question: Question) -> Position:
    return (question.stage.value, question.round, question.sample)


def earlier_calls(run_id: int, refinement: Refinement | None) -> dict[Position, ModelCall]:
    """Return all earlier calls by position."""
    calls = ModelCall.objects.filter(run=run_id, refinement=refinement).select_related("endpoint")
    return {_position(call): call for call in calls}


def open_calls(
    lease: Lease,
    asked: Sequence[tuple[Question, RoleSpec]],
    *,
    batch_id: int | None,
    known: Mapping[Position, ModelCall] = MappingProxyType({}),
    refinement: Refinement | None = None,
    secrets: SecretsRule = MASK_SECRETS,
) -> OpenedCalls:
    """Record and commit an attempt for each unanswered question, or for as many as capacity allows.

    `batch_id` is the batch of the run, which may be paused. `known` contains the earlier calls of the run or its
    refinement. `secrets` is the rule for endpoints outside this machine. Raises RunMustWait if no question can be asked
    now, Problem if a question has no attempts left or its endpoint is off, and LostLease. In these cases, no question
    is asked. Call this function outside a transaction. To avoid a deadlock, never wait for an endpoint's lock while
    holding a run's lock.
    """
    if draining.is_set():
        raise RunMustWait(_("The worker is shutting down."))
    if batch_id is not None:
        _require_budget(batch_id)
    calls = [
        known.get(position_of(question)) or make_call(lease, question, role, refinement)
        for question, role in asked
    ]
    opening = OpenedCalls()
    wanting: dict[int, list[ModelCall]] = {}
    for call in calls:
        if call.state == ModelCall.State.FAILED:
            raise Problem(failure_message(call))
        if call.state == ModelCall.State.DONE:
            opening.outcomes[_position(call)] = reply_of(call.reply or {})
        else:
            wanting.setdefault(call.endpoint_id, []).append(call)
    _open(lease, wanting, opening, secrets)
    return opening


def settle_attempts(
    lease: Lease, tries: Sequence[tuple[OpenedAttempt, Answered | Failed]]
) -> dict[Position, Reply | Exception | None]:
    """Record attempts. Return the reply for each, None to retry, or the exception that stops the run for now.

    All attempts are recorded before an exception stops the run, because the replies were billed. Therefore, exceptions
    are returned, not raised. Repeating the call changes nothing. Raises LostLease.
    """
    rows = [(opened.call, opened.attempt, ended) for opened, ended in tries]
    if all(isinstance(ended, Answered) for _, ended in tries):
        closed = close_tries(lease, rows, counted=True)
        count_attempts(closed, rows)
        trace_attempts(closed, rows)
        return {_position(call): _outcome_of(call, ended, None) for call, _, ended in rows}
    with transaction.atomic():
        _lock_before_run(lease, [(call, ended) for call, _attempt, ended in rows])
        closed = close_tries(lease, rows, counted=False)
        batch = Batch.objects.get(pk=closed.batch_id) if closed.batch_id else None
        settled = {_position(call): _outcome_of(call, ended, batch) for call, _, ended in rows}
        add_spending(closed.attempts)
    count_attempts(closed, rows)
    trace_attempts(closed, rows)
    return settled


def _lock_before_run(lease: Lease, tries: Sequence[tuple[ModelCall, Answered | Failed]]) -> None:
    """Lock the rows that failures may change: endpoints, then the batch. The run is locked after both."""
    failed = [(call, ended) for call, ended in tries if isinstance(ended, Failed)]
    endpoints = {call.endpoint_id for call, _ended in failed}
    list(Endpoint.objects.select_for_update(no_key=True).filter(pk__in=endpoints).order_by("pk"))
    if any(ended.kind is FailureKind.LIMIT for _call, ended in failed):
        batch = Batch.objects.select_for_update(of=("self",), no_key=True)
        list(batch.filter(runs=lease.run_id))


def _require_budget(batch_id: int) -> None:
    """Raise RunMustWait if the batch is paused or must pause, or if its message batches may need the entire budget."""
    batch = Batch.objects.get(pk=batch_id)
    if batch.paused_at is not None:
        raise RunMustWait(batch.paused_why or _("The batch is paused."))
    if is_used_up(batch):
        why = _("The budget is used up.")
        with transaction.atomic():
            if stop_batch(batch, why):
                emit(batch, "budget used")
        raise RunMustWait(why)
    if batch.budget is not None:
        kept = kept_for_message_batches(batch)
        if kept and spent_by(batch) + kept >= batch.budget:
            # The batch is not paused, because unused reservations return to the budget when the message batches end.
            said = _("The rest of the budget is reserved for message batches.")
            raise RunMustWait(said, until=database_now() + _KEPT_REST)


def make_call(
    lease: Lease, question: Question, role: RoleSpec, refinement: Refinement | None
) -> ModelCall:
    """Return an unsaved row for a question. Only the worker that has claimed the run creates the row."""
    stage, round, sample = position_of(question)
    request = build_request(question, role)
    return ModelCall(
        key=hash_call(
            lease.run_id,
            question,
            refinement=refinement.pk if refinement else None,
            endpoint=role.endpoint,
            request=request,
        ),
        run_id=lease.run_id,
        refinement=refinement,
        stage=stage,
        round=round,
        sample=sample,
        endpoint_id=role.endpoint_id,
        model=role.model,
        prompt=question.prompt,
        prompt_version=question.prompt_version,
        request=request,
    )


def _open(
    lease: Lease,
    wanting: Mapping[int, list[ModelCall]],
    opening: OpenedCalls,
    secrets: SecretsRule,
) -> None:
    """Record attempts by endpoint, and commit each endpoint's attempts before the next endpoint's."""
    endpoints = Endpoint.objects.in_bulk(wanting)
    for endpoint in endpoints.values():
        if not endpoint.is_on:
            raise Problem(_("%s is off.") % endpoint)
    targets = {
        call.key: target_of(endpoints[pk], call.model) for pk in wanting for call in wanting[pk]
    }
    for pk in sorted(wanting):
        for call in wanting[pk]:
            # Also mask calls from an earlier passage, because the endpoint may have changed since then.
            if secrets.apply(call, endpoints[pk]) and not call._state.adding:
                call.save(update_fields=["request", "masked"])
        try:
            admission = admit(lease, endpoints[pk], wanting[pk])
        except (RunMustWait, Problem):
            if opening.outcomes:
                continue  # ask the questions that can be asked now
            raise
        for attempt in admission.tries:
            call = attempt.call
            call.endpoint = endpoints[pk]
            opening.outcomes[_position(call)] = OpenedAttempt(
                call, attempt, targets[call.key], call.request
            )
        if admission.tell_others:
            opening.with_places.add(pk)


def _position(call: ModelCall) -> Position:
    return (call.stage, call.round, call.sample)


def _outcome_of(
    call: ModelCall, ended: Answered | Failed, batch: Batch | None
) -> Reply | Exception | None:
    if isinstance(ended, Failed):
        return decide_after_failure(call, ended, batch=batch)
    call.state, call.reply = ModelCall.State.DONE, ended.message
    return reply_of(ended.message)
