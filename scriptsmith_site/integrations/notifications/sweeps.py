"""Periodic checks that create each event only once, with one worker at a time."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from core.audit import emit
from core.database.advisory_lock import NOTE_PASSING_TIME, only_one
from review.models import Assignment, Campaign, Item
from scriptsmith_site.models import Event, EventSequence, Notification

DUE_WITHIN = timedelta(minutes=5)


def note_due_items() -> int:
    """Create one event for each claim that expires soon."""
    now = timezone.now()
    lease = timedelta(minutes=settings.SCRIPTSMITH_REVIEW_LEASE_MINUTES)
    if lease <= DUE_WITHIN:
        return 0
    told = Event.objects.filter(
        type="item.due_soon", object_id=OuterRef("item_id"), at__gt=now - lease
    )
    held = Assignment.objects.filter(
        ~Exists(told),
        state=Assignment.State.ACTIVE,
        lease_until__gt=now,
        lease_until__lte=now + DUE_WITHIN,
    )
    with only_one(NOTE_PASSING_TIME) as is_mine:
        return _tell_each(held.select_related("item", "reviewer")) if is_mine else 0


def _tell_each(held: QuerySet[Assignment]) -> int:
    count = 0
    for one in held:
        with transaction.atomic():
            emit(one.item, "due soon", reviewer=("", one.reviewer.username))
        count += 1
    return count


def note_reviewed_campaigns() -> int:
    """Create one event for each open study in which all items are reviewed."""
    items = Item.objects.filter(campaign=OuterRef("pk"))
    undone = items.filter(state__in=[Item.State.PREPARING, Item.State.HELD, Item.State.OPEN])
    done = Campaign.objects.filter(
        ~Exists(undone),
        Exists(items.filter(state=Item.State.CLOSED)),
        kind=Campaign.Kind.STUDY,
        state=Campaign.State.OPEN,
    )
    count = 0
    for campaign in done:
        with transaction.atomic():
            # Keep this row longer than the event, so that the event is not created again.
            _told, is_new = EventSequence.objects.get_or_create(subject=f"reviewed:{campaign.pk}")
            if is_new:
                emit(campaign, "all reviewed")
                count += 1
    return count


def delete_old_notifications() -> int:
    """Delete notifications older than SCRIPTSMITH_NOTIFICATION_DAYS, and return their number."""
    before = timezone.now() - timedelta(days=settings.SCRIPTSMITH_NOTIFICATION_DAYS)
    deleted, _by_model = Notification.objects.filter(at__lt=before).delete()
    return deleted
