"""Send each Message Batch exactly once, although `create` is not idempotent and a worker may be lost at any time.

A batch is marked as *sending* before it is sent. If it stays in this state because the worker or the connection was
lost, the server may have received it. The worker then searches the server's newest batches by time and number of
requests. It sends the batch again only if no batch matches. The results contain the request IDs and thus confirm the
match.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext as _

from pipeline.clients.model_client import batches_client
from pipeline.ledger.capacity import RunMustWait
from pipeline.ledger.outgoing_secrets import mask_calls
from pipeline.ledger.targets import target_of
from pipeline.llm.types import Failed, FailureKind, RemoteBatch, Request, Target
from pipeline.message_batches.results import end_unanswered, gone_tries, take_out_gone
from pipeline.models import MessageBatch
from pipeline.scheduling.batches import stop_batch
from pipeline.types import Problem

State = MessageBatch.State

# Grace period after the request's time limit. When both are over, no worker can still be sending the batch.
_GRACE = timedelta(seconds=60)
# The maximum difference between the clocks of the server and the database.
_SKEW = timedelta(minutes=10)
_SOON = timedelta(seconds=15)
_MOST_REST = timedelta(minutes=5)
_TOO_LARGE = 413


def send(row: MessageBatch) -> None:
    """Send a prepared batch, unless another worker is sending it or a user has canceled it."""
    if row.cancel_asked_at is not None:
        end_unanswered(
            row, Failed(FailureKind.CANCELLED, _("The batch was canceled before it was sent."))
        )
        return
    if not row.endpoint.is_on:
        said = _("%s is off.") % row.endpoint
        end_unanswered(row, Failed(FailureKind.CANCELLED, said))
        return
    target = find_target(row)
    if target is None or not take_out_gone(row):
        return
    client = batches_client()
    requests = _begin(row)
    if not requests:
        return
    told = client.create(target, requests)
    if isinstance(told, RemoteBatch):
        _note_sent(row, told, is_certain=True)
    elif told.http_status == _TOO_LARGE and row.requests > 1:
        _split(row)
    elif told.http_status == _TOO_LARGE:
        end_unanswered(row, told)
    else:
        _after_failure(row, told)


def look_for(row: MessageBatch) -> None:
    """Find out whether the server received a batch in the *sending* state. Continue with the batch or send it again."""
    target = find_target(row)
    if target is None:
        return
    told = batches_client().newest(target)
    if isinstance(told, Failed):
        _look_again(row, told.message)
        return
    sent_at = row.sent_at or row.created_at
    ours = MessageBatch.objects.filter(endpoint=row.endpoint, is_certain=True)
    taken = {*ours.values_list("remote_id", flat=True), *row.not_ours}
    fitting = [
        one
        for one in told
        if one.id not in taken
        and one.requests == row.requests
        and one.created_at >= sent_at - _SKEW
    ]
    if fitting:
        _note_sent(row, min(fitting, key=lambda one: one.created_at), is_certain=False)
    else:
        MessageBatch.objects.filter(pk=row.pk, state=State.SENDING).update(
            state=State.PREPARED, next_look_at=Now()
        )


def find_target(row: MessageBatch) -> Target | None:
    """Return the target of the batch. If the endpoint is unavailable, record the problem and return None."""
    try:
        return target_of(row.endpoint)
    except (Problem, RunMustWait) as problem:
        _look_again(row, str(problem))
        return None


@transaction.atomic
def _begin(row: MessageBatch) -> dict[str, Request]:
    """Mark the batch as *sending* and return its requests, or an empty dictionary if it must not be sent now."""
    # Erasing an action waits for this lock, so that no text is erased before the batch is marked.
    MessageBatch.objects.select_for_update(no_key=True).get(pk=row.pk)
    if gone_tries(row).exists():
        return {}
    tries = row.attempts.filter(ended_at=None).select_related(
        "call__run__action", "call__refinement__feedback"
    )
    calls = [one.call for one in tries]
    # Mask again, because the endpoint's rules may have changed since the calls were collected.
    mask_calls(calls, row.endpoint)
    limit = timedelta(seconds=row.endpoint.timeout_seconds) + _GRACE
    is_begun = MessageBatch.objects.filter(
        pk=row.pk, state=State.PREPARED, cancel_asked_at=None, batch__paused_at=None
    ).update(state=State.SENDING, sent_at=Now(), next_look_at=Now() + limit, problem="")
    return {call.pk: call.request for call in calls} if is_begun else {}


def _note_sent(row: MessageBatch, told: RemoteBatch, *, is_certain: bool) -> None:
    MessageBatch.objects.filter(pk=row.pk, state=State.SENDING).update(
        state=State.IN_PROGRESS,
        remote_id=told.id,
        is_certain=is_certain,
        expires_at=told.expires_at,
        next_look_at=Now() + look_interval(),
    )


def look_interval() -> timedelta:
    """Return the time between two polls of a batch in progress."""
    return timedelta(seconds=settings.SCRIPTSMITH_BATCH_LOOK_SECONDS)


def _after_failure(row: MessageBatch, failed: Failed) -> None:
    if failed.kind in (FailureKind.BUSY, FailureKind.UNREACHABLE):
        # The server did not accept the batch, so it can be sent again later.
        rest = _SOON if failed.retry_after is None else timedelta(seconds=failed.retry_after)
        _prepare_again(row, failed, rest=min(rest, _MOST_REST))
    elif failed.kind in (FailureKind.BROKEN, FailureKind.TIMEOUT):
        # The server may have received the batch.
        MessageBatch.objects.filter(pk=row.pk, state=State.SENDING).update(
            next_look_at=Now() + _GRACE, problem=failed.message
        )
    elif failed.kind is FailureKind.LIMIT:
        _prepare_again(row, failed, rest=timedelta())
        stop_batch(row.batch, _("The account has reached its spend limit. %s") % _said(row, failed))
    else:
        stop_batch(row.batch, _("The server rejected the message batch. %s") % _said(row, failed))
        # The calls are still valid. They wait until a user has checked the problem and resumed the runs.
        never_asked = replace(failed, kind=FailureKind.CANCELLED, possibly_billed=False)
        end_unanswered(row, never_asked, state=State.FAILED)


def _prepare_again(row: MessageBatch, failed: Failed, *, rest: timedelta) -> None:
    MessageBatch.objects.filter(pk=row.pk, state=State.SENDING).update(
        state=State.PREPARED, next_look_at=Now() + rest, problem=failed.message
    )


def _look_again(row: MessageBatch, problem: str) -> None:
    MessageBatch.objects.filter(pk=row.pk).update(
        next_look_at=Now() + min(_SOON, look_interval()), problem=problem[:500]
    )


def _said(row: MessageBatch, failed: Failed) -> str:
    status = f" (HTTP {failed.http_status})" if failed.http_status else ""
    return f"{row.endpoint}: {failed.message}{status}"


@transaction.atomic
def _split(row: MessageBatch) -> None:
    """Split a batch that is too large for the server into two halves, which are sent separately."""
    if not MessageBatch.objects.filter(pk=row.pk, state=State.SENDING).update(
        state=State.PREPARED,
        requests=F("requests") - row.requests // 2,
        reserved=F("reserved") - row.reserved // 2,
        next_look_at=Now(),
    ):
        return
    half = MessageBatch.objects.create(
        batch=row.batch,
        endpoint=row.endpoint,
        requests=row.requests // 2,
        reserved=row.reserved // 2,
        created_at=timezone.now(),
    )
    tries = row.attempts.filter(ended_at=None).order_by("pk")
    keys = list(tries.values_list("pk", flat=True)[: row.requests // 2])
    row.attempts.filter(pk__in=keys).update(message_batch=half)
