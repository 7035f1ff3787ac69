"""Number events and create their deliveries, once per event and by one worker at a time."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import timedelta

from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from core.audit import emit
from core.database.advisory_lock import DISTRIBUTE_EVENTS, only_one
from scriptsmith_site.integrations.outbox.events.confidentiality import may_leave
from scriptsmith_site.integrations.outbox.events.event_types import SET_ASIDE
from scriptsmith_site.integrations.outbox.events.subjects import Subject, find_subject
from scriptsmith_site.models import Delivery, Destination, Event

logger = logging.getLogger(__name__)

_AT_A_TIME = 100
# Intervals between attempts to distribute an event. After the last interval, the event is set aside.
_PAUSES = tuple(timedelta(seconds=seconds) for seconds in (10, 60, 300, 1_800))

# A function that is called with each event in the transaction that distributes it.
# The subject is None if the object was deleted.
Receiver = Callable[[Event, Subject | None], None]

_NEXT_NUMBER = """
INSERT INTO scriptsmith_site_eventsequence AS kept (subject, last) VALUES (%s, 1)
ON CONFLICT (subject) DO UPDATE SET last = kept.last + 1
RETURNING last
"""


def distribute(*receivers: Receiver) -> int:
    """Distribute all waiting events, oldest first, and return their number.

    Return 0 if another worker has the lock. Each event has its own transaction, so it is distributed completely or not
    at all. An event that raises an error is retried later, and only later events of the same object wait for it.
    """
    done = 0
    with only_one(DISTRIBUTE_EVENTS) as is_mine:
        while is_mine:
            events = list(_due()[:_AT_A_TIME])
            failed: set[tuple[str, int]] = set()
            for event in events:
                about = (event.model, event.object_id)
                if about in failed:
                    continue
                try:
                    _distribute(event, receivers)
                except (OperationalError, InterfaceError):
                    raise  # an error of the database, not of the event
                except Exception as error:
                    logger.exception("Could not distribute an event: %s", event)
                    failed.add(about)
                    _note_failure(event, error)
                else:
                    done += 1
            if len(events) < _AT_A_TIME:
                break
    return done


def _due() -> QuerySet[Event]:
    held_up = Event.objects.filter(
        distributed_at=None,
        failures__gt=0,
        model=OuterRef("model"),
        object_id=OuterRef("object_id"),
        pk__lt=OuterRef("pk"),
    )
    return Event.objects.filter(
        ~Exists(held_up),
        Q(retry_at=None) | Q(retry_at__lte=timezone.now()),
        distributed_at=None,
    ).order_by("pk")


@transaction.atomic
def _note_failure(event: Event, error: Exception) -> None:
    """Schedule a retry. After the last attempt, set the event aside and notify only the administrators."""
    now = timezone.now()
    mine = Event.objects.filter(pk=event.pk)
    mine.update(failures=F("failures") + 1, problem=f"{type(error).__name__}: {error}"[:300])
    failures = mine.values_list("failures", flat=True).get()
    if failures <= len(_PAUSES):
        mine.update(retry_at=now + _PAUSES[failures - 1])
        return
    mine.update(distributed_at=now, details={})
    if event.type != SET_ASIDE:
        emit(event, "set aside")


@transaction.atomic
def _distribute(event: Event, receivers: Sequence[Receiver]) -> None:
    subject = find_subject(event.model, event.object_id)
    if subject is not None and may_leave(event, subject):
        event.leaves = True
        event.subject = subject.key
        event.sequence = _next_number(subject.key)
        event.action_id = subject.action
        event.data = {**subject.ids, "link": subject.link}
        wanted = Destination.objects.filter(types__contains=[event.type])
        Delivery.objects.bulk_create(
            Delivery(destination=one, event=event, subject=subject.key, sequence=event.sequence)
            for one in wanted
        )
    for receiver in receivers:
        receiver(event, subject)
    event.details = {}
    event.distributed_at, event.retry_at = timezone.now(), None
    event.save()


def _next_number(subject: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(_NEXT_NUMBER, [subject])
        [number] = cursor.fetchone()
    return int(number)
