"""Access to destinations and deliveries for administrators. Views must use these functions, which raise 404."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db.models import Count, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.shortcuts import get_object_or_404

from scriptsmith_site.models import Delivery, Destination
from scriptsmith_site.people.services import require_administrator


def access_destinations(by: User) -> QuerySet[Destination]:
    """Return all destinations with their numbers of waiting and failed deliveries."""
    require_administrator(by)
    return Destination.objects.select_related("owner").annotate(
        waiting=_count(Delivery.State.WAITING), given_up=_count(Delivery.State.FAILED)
    )


def access_destination(by: User, pk: int) -> Destination:
    """Return one destination. It has no counts because its page polls every few seconds."""
    require_administrator(by)
    return get_object_or_404(Destination.objects.select_related("owner"), pk=pk)


def access_delivery(by: User, pk: int) -> Delivery:
    """Return one delivery with all its attempts."""
    require_administrator(by)
    return get_object_or_404(
        Delivery.objects.select_related("destination", "event").prefetch_related("attempts"), pk=pk
    )


def _count(state: Delivery.State) -> Coalesce:
    """Return a subquery that counts a destination's deliveries in this state.

    It uses the state's index, because millions of events may have been delivered.
    """
    found = Delivery.objects.filter(destination=OuterRef("pk"), state=state).order_by()
    count = found.values("destination").annotate(count=Count("pk")).values("count")
    return Coalesce(Subquery(count, output_field=IntegerField()), 0)
