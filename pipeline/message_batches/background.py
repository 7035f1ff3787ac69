"""Run one step of the background work on Message Batches: collect, send, poll and read.

Any worker can run the step, but two workers never process the same batch at the same time.
"""

from __future__ import annotations

import logging
from datetime import timedelta

from django.db.models.functions import Now
from django.utils.translation import gettext as _

from pipeline.clients.model_client import batches_client
from pipeline.ledger.model_calls import draining
from pipeline.llm.types import Failed, FailureKind, RemoteBatch
from pipeline.message_batches.collecting import collect_waiting
from pipeline.message_batches.results import end_unanswered, read_results
from pipeline.message_batches.sending import find_target, look_for, look_interval, send
from pipeline.message_batches.waiting import give_to_direct_calls
from pipeline.models import MessageBatch

logger = logging.getLogger(__name__)
State = MessageBatch.State

# How long a worker reserves a batch. If the worker is lost, another worker continues after this time.
_HELD = timedelta(seconds=30)
_GONE = 404


def advance_message_batches() -> int:
    """Process all due batches as far as possible, and return the number of processed batches."""
    give_to_direct_calls()
    collect_waiting()
    due = MessageBatch.objects.filter(state__in=MessageBatch.UNFINISHED, next_look_at__lte=Now())
    looked = 0
    for pk in list(due.order_by("next_look_at", "pk").values_list("pk", flat=True)[:100]):
        if draining.is_set():
            break
        row = _take(pk)
        if row is not None:
            _advance(row)
            looked += 1
    return looked


def _take(pk: int) -> MessageBatch | None:
    """Reserve a batch for this worker and return it, or return None if another worker was first."""
    mine = MessageBatch.objects.filter(pk=pk, state__in=MessageBatch.UNFINISHED)
    if not mine.filter(next_look_at__lte=Now()).update(next_look_at=Now() + _HELD):
        return None
    return MessageBatch.objects.select_related("batch", "endpoint").get(pk=pk)


def _advance(row: MessageBatch) -> None:
    match row.state:
        case State.PREPARED:
            if row.batch.paused_at is None or row.cancel_asked_at is not None:
                send(row)
        case State.SENDING:
            look_for(row)
        case State.IN_PROGRESS | State.CANCELING:
            _look(row)
        case State.ENDED:
            _read(row)


def _look(row: MessageBatch) -> None:
    """Poll the state of a batch. Cancel the batch if a user requested that, and read its results if it has ended."""
    target = find_target(row)
    if target is None:
        return
    client = batches_client()
    # A batch found by `look_for` may belong to another client, so it is not canceled until its results confirm the
    # match.
    if row.cancel_asked_at is not None and row.is_certain and row.state == State.IN_PROGRESS:
        told = client.cancel(target, row.remote_id)
    else:
        told = client.retrieve(target, row.remote_id)
    if isinstance(told, Failed):
        if told.http_status == _GONE:
            said = _("The server no longer has the batch.")
            end_unanswered(row, Failed(FailureKind.BROKEN, said, possibly_billed=True))
            return
        _note(row, problem=told.message)
        return
    _note(row, state=_state_of(told), expires_at=told.expires_at, problem="")
    if told.is_ended:
        MessageBatch.objects.filter(pk=row.pk, ended_at=None).update(ended_at=Now())
        row.refresh_from_db(fields=["ended_at", "state"])
        _read(row)


def _state_of(told: RemoteBatch) -> str:
    if told.is_ended:
        return State.ENDED
    return State.CANCELING if told.is_canceling else State.IN_PROGRESS


def _read(row: MessageBatch) -> None:
    target = find_target(row)
    if target is not None:
        read_results(row, target)


def _note(row: MessageBatch, **changed: object) -> None:
    MessageBatch.objects.filter(pk=row.pk, state__in=MessageBatch.UNFINISHED).update(
        next_look_at=Now() + look_interval(), **changed
    )
