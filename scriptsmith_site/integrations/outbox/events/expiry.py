"""Deletion of old events and their deliveries."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db.models import Exists, OuterRef
from django.utils import timezone

from scriptsmith_site.models import Delivery, Event

_AT_A_TIME = 1_000


def delete_old_events() -> int:
    """Delete distributed events older than SCRIPTSMITH_EVENT_DAYS and return their number.

    Events that are waiting for a destination are kept until they are sent or the destination is deleted.
    """
    before = timezone.now() - timedelta(days=settings.SCRIPTSMITH_EVENT_DAYS)
    deleted = 0
    while True:
        waits = Delivery.objects.filter(event=OuterRef("pk"), state=Delivery.State.WAITING)
        old = Event.objects.filter(~Exists(waits), at__lt=before, distributed_at__isnull=False)
        keys = list(old.order_by("pk").values_list("pk", flat=True)[:_AT_A_TIME])
        Event.objects.filter(pk__in=keys).delete()
        deleted += len(keys)
        if len(keys) < _AT_A_TIME:
            return deleted
