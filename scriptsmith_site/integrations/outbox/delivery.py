"""Deliver due events to a destination, in order per object and by one worker at a time.

A worker claims a destination with a lease. It stores each attempt before sending. If the worker dies, the attempt has
no end time, and the next worker retries with the same ID, so delivery is at least once. Later events of an object wait
for earlier ones, but not for events of other objects.

If a receiver rejects an event, it still gets other events. If a receiver is unavailable, single attempts are made at
growing intervals. During that time, no event fails. After three days, the destination is paused.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext as _

from core import metrics
from core.audit import emit, record
from core.process import owner
from scriptsmith_site.integrations.outbox.events.confidentiality import may_leave
from scriptsmith_site.integrations.outbox.events.event_types import GAVE_UP, TEST
from scriptsmith_site.integrations.outbox.events.subjects import find_subject
from scriptsmith_site.integrations.outbox.transport.channels import send_message
from scriptsmith_site.integrations.outbox.transport.payloads import body_of, message_id
from scriptsmith_site.integrations.outbox.transport.sealing import Unreadable
from scriptsmith_site.integrations.outbox.transport.sending import (
    GONE,
    LONGEST_WAIT,
    Answer,
    send_signed,
)
from scriptsmith_site.integrations.outbox.transport.signing_secrets import secret_of, secrets_of
from scriptsmith_site.models import Delivery, DeliveryAttempt, Destination, Event

logger = logging.getLogger(__name__)

LEASE = timedelta(seconds=20)
# With the first attempt, these are 12 attempts over three days.
PAUSES = tuple(
    timedelta(seconds=seconds)
    for seconds in (
        *(10, 60, 300, 1_800, 2 * 3_600, 6 * 3_600),
        *(10 * 3_600, 12 * 3_600, 12 * 3_600, 14 * 3_600, 15 * 3_600),
    )
)
PAUSED_AFTER = timedelta(days=3)
# Intervals between attempts while the receiver is unavailable.
PROBES = PAUSES[:4]
# Deliveries that had no response or one of these statuses are retried at once if a receiver recovers after this time.
_OUTAGE = timedelta(minutes=5)
_AWAY = (429, 502, 503, 504)
# A receiver that rejects this many events in a row counts as unavailable, regardless of its responses.
_MOST_REFUSED = 3
# A run ends after this time. The next run starts within seconds.
_MOST_SECONDS = 40.0
_AT_A_TIME = 50
_TOLD_EVERY = timedelta(days=1)


@dataclass(frozen=True)
class _Hold:
    """A worker's lease on a destination, valid while the fence number is unchanged."""

    pk: int
    fence: int

    def renew(self) -> bool:
        """Renew the lease, and return whether this worker still has the lease."""
        mine = Destination.objects.filter(pk=self.pk, fence=self.fence, lease_owner=owner())
        return bool(mine.update(lease_until=Now() + LEASE))

    def release(self) -> None:
        """Release the lease."""
        mine = Destination.objects.filter(pk=self.pk, fence=self.fence, lease_owner=owner())
        mine.update(lease_owner="", lease_until=None)


def destinations_with_work() -> list[int]:
    """Return the destinations that have due deliveries and no active lease."""
    now = timezone.now()
    may_try = Q(destination__retry_at=None) | Q(destination__retry_at__lte=now)
    due = Delivery.objects.filter(
        Q(destination__paused_at=None) & may_try | Q(event__type=TEST),
        destination=OuterRef("pk"),
        state=Delivery.State.WAITING,
        next_at__lte=now,
    )
    return list(_free().filter(Exists(due)).values_list("pk", flat=True))


def deliver(destination_id: int) -> int:
    """Send due events to a destination and return the number of attempts, or 0 if another worker has the lease."""
    hold = _claim(destination_id)
    if hold is None:
        return 0
    tries = 0
    ends = time.monotonic() + _MOST_SECONDS
    try:
        while batch := _next_batch(destination_id):
            for pk in batch:
                if time.monotonic() >= ends or not hold.renew():
                    return tries
                # Reload each time, so that a changed address or secret applies to the next attempt.
                destination = Destination.objects.get(pk=destination_id)
                due = due_deliveries(destination).filter(pk=pk).select_related("event")
                delivery = due.first()
                if delivery is not None:
                    _try(destination, delivery)
                    tries += 1
        _forget_failure_of_nothing(destination_id)
    finally:
        hold.release()
    return tries


def _next_batch(destination_id: int) -> list[int]:
    due = due_deliveries(Destination.objects.get(pk=destination_id))
    return list(due.values_list("pk", flat=True)[:_AT_A_TIME])


def _forget_failure_of_nothing(destination_id: int) -> None:
    """Clear the failure state if no delivery is waiting, so that a later failure starts a new failure period."""
    waiting = Delivery.objects.filter(destination=OuterRef("pk"), state=Delivery.State.WAITING)
    failing = Destination.objects.filter(pk=destination_id, failing_since__isnull=False)
    failing.filter(~Exists(waiting)).update(failing_since=None, failures=0, retry_at=None)


def due_deliveries(destination: Destination) -> QuerySet[Delivery]:
    """Return the deliveries to send now, longest waiting first and in order per object.

    For a paused or unavailable destination, return only tests.
    """
    now = timezone.now()
    earlier = Delivery.objects.filter(
        destination=destination,
        subject=OuterRef("subject"),
        sequence__lt=OuterRef("sequence"),
        state=Delivery.State.WAITING,
    )
    waiting = Delivery.objects.filter(
        ~Exists(earlier),
        destination=destination,
        state=Delivery.State.WAITING,
        next_at__lte=now,
    )
    is_away = destination.retry_at is not None and destination.retry_at > now
    if destination.paused_at is not None or is_away:
        waiting = waiting.filter(event__type=TEST)
    return waiting.order_by("next_at", "event_id")


def _free() -> QuerySet[Destination]:
    return Destination.objects.filter(Q(lease_until=None) | Q(lease_until__lt=Now()))


def _claim(pk: int) -> _Hold | None:
    taken = _free().filter(pk=pk)
    if not taken.update(lease_owner=owner(), fence=F("fence") + 1, lease_until=Now() + LEASE):
        return None
    return _Hold(pk, Destination.objects.values_list("fence", flat=True).get(pk=pk))


def _try(destination: Destination, delivery: Delivery) -> None:
    """Make one attempt and record its result. Unexpected errors are recorded and not raised."""
    attempt = DeliveryAttempt.objects.create(delivery=delivery)
    began = time.monotonic()
    try:
        answer = _send(destination, delivery.event)
    except (OperationalError, InterfaceError):
        raise  # The database is unavailable, so the failure can't be recorded.
    except Exception as error:
        logger.exception("A delivery failed: %s", delivery)
        answer = Answer(error=_("The delivery failed: %s") % type(error).__name__)
    if answer is None:
        attempt.delete()
        _end(delivery, Delivery.State.WITHHELD)
        return
    metrics.count(metrics.DELIVERIES, destination.kind, "failed" if answer.error else "delivered")
    DeliveryAttempt.objects.filter(pk=attempt.pk).update(
        ended_at=timezone.now(),
        milliseconds=int((time.monotonic() - began) * 1000),
        status=answer.status,
        error=answer.error[:300],
        answer=answer.text,
    )
    if answer.error:
        _note_failure(destination, delivery, answer)
    else:
        _note_success(destination, delivery)


def _send(destination: Destination, event: Event) -> Answer | None:
    """Send the event and return the response, or None if the event may not leave the product."""
    # Check again, because a study may have started while the event waited.
    if not may_leave(event, find_subject(event.model, event.object_id)):
        return None
    try:
        if not destination.is_webhook:
            return send_message(destination, event, secret=secret_of(destination))
        body = body_of(event, includes_texts=destination.includes_texts)
        now = timezone.now()
        secrets = secrets_of(destination, now=now)
        return send_signed(
            destination.address, body, uid=message_id(event), secrets=secrets, now=now
        )
    except Unreadable as refusal:
        return Answer(error=str(refusal), is_away=True)


@transaction.atomic
def _note_success(destination: Destination, delivery: Delivery) -> None:
    now = timezone.now()
    _end(delivery, Delivery.State.DELIVERED)
    since = destination.failing_since
    if since is not None and now - since >= _OUTAGE:
        _wake(destination, now)
    Destination.objects.filter(pk=destination.pk).update(
        last_success_at=now, failing_since=None, failures=0, retry_at=None
    )


def _wake(destination: Destination, now: datetime) -> None:
    """Make deliveries due now if they failed while the receiver was unavailable.

    Rejected events keep their retry time.
    """
    last = DeliveryAttempt.objects.filter(delivery=OuterRef("pk")).order_by("-pk")
    waiting = destination.deliveries.filter(state=Delivery.State.WAITING, next_at__gt=now)
    found_away = waiting.annotate(status=Subquery(last.values("status")[:1])).filter(
        Q(status=None) | Q(status__in=_AWAY)
    )
    Delivery.objects.filter(pk__in=found_away.values("pk")).update(next_at=now)


@transaction.atomic
def _note_failure(destination: Destination, delivery: Delivery, answer: Answer) -> None:
    now = timezone.now()
    noted = Destination.objects.filter(pk=destination.pk)
    noted.update(last_error_at=now, last_error=answer.error[:300])
    if delivery.event.type == TEST:
        # A test was requested by a user and says nothing about the waiting events.
        _end(delivery, Delivery.State.FAILED)
        return
    tries, since = delivery.tries + 1, destination.failing_since
    if tries > len(PAUSES) and since is None:
        # Other events were delivered since the last attempt, so the receiver rejects only this event.
        _end(delivery, Delivery.State.FAILED)
        _tell_given_up(destination, now)
        return
    asked = min(answer.wait or timedelta(), LONGEST_WAIT)
    Delivery.objects.filter(pk=delivery.pk).update(
        tries=tries, next_at=now + max(asked, PAUSES[min(tries, len(PAUSES)) - 1])
    )
    # Count repeated rejections of the same event once, so that they do not delay other events.
    failures = destination.failures + int(answer.is_away or delivery.tries == 0)
    is_away = answer.is_away or failures >= _MOST_REFUSED
    pause = max(asked, PROBES[min(failures, len(PROBES)) - 1]) if is_away else None
    noted.update(
        failing_since=since or now,
        failures=failures,
        retry_at=now + pause if pause else None,
    )
    if answer.status == GONE:
        _pause(
            destination,
            now,
            _("The receiver responded with 410 (Gone), so no more events are sent to it."),
        )
    elif since is not None and now - since >= PAUSED_AFTER:
        _pause(destination, now, _("All deliveries have failed for three days."))


def _tell_given_up(destination: Destination, now: datetime) -> None:
    """Notify administrators, at most once per day."""
    told = Event.objects.filter(
        type=GAVE_UP, object_id=destination.pk, at__gt=now - _TOLD_EVERY
    ).exists()
    if not told:
        emit(destination, "gave up an event")


def _pause(destination: Destination, now: datetime, why: str) -> None:
    """Stop sending and notify administrators. Waiting events are sent in order after the destination is resumed."""
    waiting = Destination.objects.filter(pk=destination.pk, paused_at=None)
    if waiting.update(paused_at=now, paused_why=why):
        record(destination, "paused by itself", by=None, why=("", why))


def _end(delivery: Delivery, state: Delivery.State) -> None:
    Delivery.objects.filter(pk=delivery.pk).update(
        state=state, ended_at=timezone.now(), tries=delivery.tries + 1
    )
