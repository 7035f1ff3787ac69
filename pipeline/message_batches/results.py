"""Read the results of Message Batches and pass them to the runs. Reading results twice has no additional effect.

A result ends its attempt like the reply of a direct call. The call gets the reply, the cost is counted, and failures
follow the same policy. The sleeping runs then continue.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from itertools import islice
from typing import TypeVar

from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from pipeline.clients.model_client import batches_client
from pipeline.ledger.model_calls import OpenedAttempt, draining, settle_attempts
from pipeline.llm.types import (
    Answered,
    Failed,
    FailureKind,
    Target,
    UnreadableResults,
)
from pipeline.message_batches.waiting import wake
from pipeline.models import Attempt, MessageBatch, Run
from pipeline.scheduling.run_leases import Lease, LostLease

T = TypeVar("T")
State = MessageBatch.State

_SLICE = 100
_HELD = timedelta(seconds=30)
_SOON = timedelta(seconds=2)
_NO_TARGET = Target("", "", "", 0)


def read_results(row: MessageBatch, target: Target) -> None:
    """Read the results of an ended batch and finish it. After an interruption, the remaining results are read later."""
    seen = set[str]()
    try:
        for results in _slices(batches_client().results(target, row.remote_id), _SLICE):
            if not row.is_certain and not _is_ours(row, results):
                return
            _settle(row, dict(results))
            seen.update(dict(results))
            # Reserve the batch for longer than a slice takes, so that no other worker reads it at the same time.
            MessageBatch.objects.filter(pk=row.pk).update(next_look_at=Now() + _HELD)
            if draining.is_set():
                return
    except UnreadableResults as broken:
        _unsettled(row, broken.failed.message)
        return
    if not row.is_certain and not _is_ours(row, []):
        return
    missing = row.attempts.filter(ended_at=None).exclude(call__in=seen)
    said = Failed(
        FailureKind.BROKEN,
        _("The batch returned no result for this request."),
        possibly_billed=True,
    )
    _settle(row, dict.fromkeys(missing.values_list("call", flat=True), said))
    _end(row, State.DONE)


def end_unanswered(row: MessageBatch, failed: Failed, *, state: str = State.DONE) -> None:
    """End a batch without results. All its requests fail with `failed`, and the retry policy decides what happens."""
    calls = row.attempts.filter(ended_at=None).values_list("call", flat=True)
    _settle(row, dict.fromkeys(calls, failed))
    _end(row, state, problem=failed.message)


def take_out_gone(row: MessageBatch) -> bool:
    """End attempts whose run was canceled or erased before sending. Return whether any requests remain."""
    gone = gone_tries(row)
    if not gone.exists():
        return True
    said = Failed(FailureKind.CANCELLED, _("The run was canceled before the request was sent."))
    _settle(row, dict.fromkeys(gone.values_list("call", flat=True), said))
    row.requests = row.attempts.filter(ended_at=None).count()
    MessageBatch.objects.filter(pk=row.pk).update(requests=row.requests)
    if not row.requests:
        _end(row, State.DONE)
    return row.requests > 0


def gone_tries(row: MessageBatch) -> QuerySet[Attempt]:
    """Return attempts of the batch whose run was canceled or whose texts were erased."""
    return row.attempts.filter(ended_at=None).filter(
        Q(call__run__state=Run.State.CANCELLED) | Q(call__run__action__erased_at__isnull=False)
    )


def _slices(results: Iterator[T], size: int) -> Iterator[list[T]]:
    while found := list(islice(results, size)):
        yield found


def _is_ours(row: MessageBatch, results: list[tuple[str, Answered | Failed]]) -> bool:
    """Return whether a batch found by time and size contains the requests of `row`. If not, the search continues."""
    names = [name for name, _result in results if name]
    is_ours = row.attempts.filter(call__in=names).exists()
    if is_ours:
        MessageBatch.objects.filter(pk=row.pk).update(is_certain=True)
        row.is_certain = True
    else:
        MessageBatch.objects.filter(pk=row.pk, is_certain=False).update(
            state=State.SENDING,
            not_ours=[*row.not_ours, row.remote_id],
            remote_id="",
            expires_at=None,
            next_look_at=Now(),
        )
    return is_ours


def _settle(row: MessageBatch, results: Mapping[str, Answered | Failed]) -> None:
    """End the open attempts of these calls. If a worker is processing a run, its attempts are ended next time."""
    tries = (
        row.attempts.filter(call__in=list(results), ended_at=None)
        .select_related("call__endpoint", "call__run")
        .order_by("call__run", "pk")
    )
    runs = set()
    for attempt in tries:
        call, run = attempt.call, attempt.call.run
        opened = OpenedAttempt(call, attempt, _NO_TARGET, call.request)
        if run.owner:
            continue
        try:
            # No worker has the run, so its fence stays the same. If a worker claims the run now, LostLease is raised.
            settle_attempts(Lease(run.pk, "", run.fence), [(opened, results[call.pk])])
        except LostLease:
            continue
        runs.add(run.pk)
    _wake_complete(runs)


def _wake_complete(runs: set[int]) -> None:
    # A run needs the replies to all of its calls.
    incomplete = Attempt.objects.filter(
        call__run__in=runs, ended_at=None, message_batch__isnull=False
    )
    wake(runs.difference(incomplete.values_list("call__run", flat=True)))


def _end(row: MessageBatch, state: str, *, problem: str = "") -> None:
    """End the batch if all its attempts have ended, and wake the remaining runs."""
    if row.attempts.filter(ended_at=None).exists():
        _unsettled(row, problem)
        return
    _wake_complete(set(row.attempts.values_list("call__run", flat=True)))
    Outcome = Attempt.Outcome
    known = {
        "answered": Outcome.ANSWERED,
        "expired": Outcome.EXPIRED,
        "cancelled": Outcome.CANCELLED,
    }
    counted = row.attempts.aggregate(
        requests=Count("pk"),
        **{name: Count("pk", filter=Q(outcome=one)) for name, one in known.items()},
        errored=Count("pk", filter=~Q(outcome__in=known.values())),
    )
    MessageBatch.objects.filter(pk=row.pk).update(
        **counted,
        state=state,
        reserved=0,
        problem=problem[:500],
        ended_at=row.ended_at or Now(),
    )


def _unsettled(row: MessageBatch, problem: str) -> None:
    MessageBatch.objects.filter(pk=row.pk).update(problem=problem[:500], next_look_at=Now() + _SOON)
