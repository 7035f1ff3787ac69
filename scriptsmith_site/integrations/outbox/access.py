"""The only way for a view to obtain a destination or a delivery: for administrators, 404 if unknown."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db.models import Count, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.shortcuts import get_object_or_404

from scriptsmith_site.models import Delivery, Destination
from scriptsmith_site.people.services import require_administrator


def access_destinations(by: User) -> QuerySet[Destination]:
    """Every destination, with how many deliveries wait for it and were given up."""
    require_administrator(by)
    return Destination.objects.select_related("owner").annotate(
        waiting=_count(Delivery.State.WAITING), given_up=_count(Delivery.State.FAILED)
    )


def access_destination(by: User, pk: int) -> Destination:
    """One of them, with nothing counted: a page asks for it every few seconds."""
    require_administrator(by)
    return get_object_or_404(Destination.objects.select_related("owner"), pk=pk)


def access_delivery(by: User, pk: int) -> Delivery:
    """One event on its way, with all of its tries."""
    require_administrator(by)
    return get_object_or_404(
        Delivery.objects.select_related("destination", "event").prefetch_related("attempts"), pk=pk
    )


def _count(state: Delivery.State) -> Coalesce:
    """Counted for each destination by an index of this state alone: those delivered may be millions."""
    found = Delivery.objects.filter(destination=OuterRef("pk"), state=state).order_by()
    count = found.values("destination").annotate(count=Count("pk")).values("count")
    return Coalesce(Subquery(count, output_field=IntegerField()), 0)
