"""Services for pages, the API and commands that show and control Message Batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, Sum
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext as _

from core.audit import record
from pipeline.message_batches.waiting import waiting_calls
from pipeline.models import Attempt, Batch, Endpoint, MessageBatch, ModelCall, Run

_SHOWN = 20
_LISTED = 100


@dataclass(frozen=True)
class Progress:
    """The state of a campaign's message batches. Costs are in micro-dollars, at half the price of direct calls."""

    waiting: int  # calls collected for the next batch
    requests: int
    answered: int
    in_progress: int  # requests in batches that have not ended
    cost: int
    batches: int
    rows: Sequence[MessageBatch]  # newest first

    @property
    def price_of_direct_calls(self) -> int:
        """Return the cost that the same calls would have as direct calls."""
        return 2 * self.cost


def progress_of(batch: Batch) -> Progress | None:
    """Return the progress in at most four queries, or None if the campaign neither has nor uses message batches."""
    sums = MessageBatch.objects.filter(batch=batch).aggregate(
        batches=Count("pk"),
        total=Sum("requests"),
        answers=Sum("answered"),
        in_progress=Sum("requests", filter=Q(state__in=MessageBatch.UNFINISHED)),
    )
    if not sums["batches"] and not batch.uses_message_batches:
        return None
    cost = Attempt.objects.filter(message_batch__batch=batch).aggregate(total=Sum("cost"))["total"]
    return Progress(
        waiting=waiting_calls().filter(run__batch=batch).count(),
        cost=cost or 0,
        rows=list(
            MessageBatch.objects.filter(batch=batch)
            .select_related("endpoint")
            .order_by("-pk")[:_SHOWN]
        ),
        requests=sums["total"] or 0,
        answered=sums["answers"] or 0,
        in_progress=sums["in_progress"] or 0,
        batches=sums["batches"],
    )


def requests_in_batches(endpoint: Endpoint) -> int:
    """Return the number of requests in unfinished batches of this endpoint."""
    rows = MessageBatch.objects.filter(endpoint=endpoint, state__in=MessageBatch.UNFINISHED)
    return rows.aggregate(total=Sum("requests"))["total"] or 0


def newest_batches(*, unfinished: bool = False) -> list[MessageBatch]:
    """Return the newest batches of all campaigns, or only unfinished batches."""
    rows = MessageBatch.objects.select_related("batch", "endpoint").order_by("-pk")
    return list((rows.filter(state__in=MessageBatch.UNFINISHED) if unfinished else rows)[:_LISTED])


def describe(row: MessageBatch) -> dict[str, object]:
    """Return a batch as a JSON object, with times in ISO 8601 (UTC)."""
    return {
        "id": row.pk,
        "campaign": row.batch.name,
        "endpoint": row.endpoint.name,
        "state": row.state,
        "requests": row.requests,
        "answered": row.answered,
        "errored": row.errored,
        "expired": row.expired,
        "cancelled": row.cancelled,
        "sent_at": _say(row.sent_at),
        "expires_at": _say(row.expires_at),
        "ended_at": _say(row.ended_at),
        "problem": row.problem,
    }


def _say(moment: datetime | None) -> str | None:
    return moment.isoformat(timespec="seconds") if moment else None


@transaction.atomic
def use_message_batches(batch: Batch, *, uses: bool, by: User) -> None:
    """Turn message batches on or off for new calls. Batches that were already sent are still read."""
    if batch.uses_message_batches == uses:
        return
    was, batch.uses_message_batches = batch.uses_message_batches, uses
    batch.save(update_fields=["uses_message_batches"])
    record(batch, "message batches changed", by=by, uses_message_batches=(was, uses))


@transaction.atomic
def cancel_message_batches(batch: Batch, *, by: User) -> int:
    """Cancel the unanswered requests of a campaign's batches. Return the number of canceled batches.

    Answers received before the cancellation are billed and kept. The other requests cost nothing and are sent again if
    the runs continue.
    """
    count = MessageBatch.objects.filter(
        batch=batch, state__in=MessageBatch.UNFINISHED, cancel_asked_at=None
    ).update(cancel_asked_at=timezone.now(), next_look_at=Now())
    if count:
        record(batch, "message batches canceled", by=by, batches=("", count))
    return count


def awaits_replies(run: str) -> Exists:
    """Return a query condition: the run in this column has a call that is or will be in a batch."""
    return Exists(ModelCall.objects.filter(run=OuterRef(run), in_batches=True, state="open"))


@dataclass(frozen=True)
class Wait:
    """The batch that a run is waiting for. While the batch is being collected, `sent_at` is None."""

    sent_at: datetime | None
    expires_at: datetime | None

    @property
    def words(self) -> str:
        """Describe the wait in a sentence for the page."""
        if self.sent_at is None:
            return _("The next model call is waiting for a message batch.")
        return _("The next model call is in a message batch. The reply arrives within a day.")


def wait_of(run: Run) -> Wait | None:
    """Return the batch that an unfinished run is waiting for, or None."""
    asked = run.calls.filter(in_batches=True, state="open").prefetch_related(
        "attempts__message_batch"
    )
    for call in asked[:1]:
        for attempt in call.attempts.all():
            if attempt.ended_at is None and attempt.message_batch is not None:
                return Wait(attempt.message_batch.sent_at, attempt.message_batch.expires_at)
        return Wait(None, None)
    return None
