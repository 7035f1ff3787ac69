"""Sort orders of the list of entries, based on the version that the list shows for each entry."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from django.db import models
from django.db.models import Case, Count, F, Q, QuerySet, Value, When
from django.utils.translation import gettext_lazy as _

from catalog.listing.services.filters import MERGED, SUSPENDED, Filters, conditions_of
from catalog.models import Entry, Version
from core.database.key_lists import is_among

Risk = Version.Risk


class Sort(models.TextChoices):
    """The sort orders. The first order is the default."""

    NEWEST = "", _("Newest first")
    USED = "used", _("Most used first")
    NAME = "name", _("By name")
    RISK = "risk", _("Highest risk first")
    VERIFIED = "verified", _("Most recently verified first")
    STALE = "stale", _("Least recently verified first")


def in_order(
    filters: Filters, sort: Sort, *, among: QuerySet[Entry], start: int, size: int
) -> Sequence[Entry]:
    """Return up to `size` matching entries in this order, starting at position `start`.

    Pages use positions instead of keys, because the sort key is computed. A late page is as slow as the whole list.
    Raises BadInput.
    """
    filters.check()
    standing = Case(When(state=Version.State.VERIFIED, then=Value(0)), default=Value(1))
    shown = (
        Version.objects.filter(row_condition(filters))
        .order_by("entry_id", standing, "-number")
        .distinct("entry_id")
        .values("pk")
    )
    versions = _ORDERS[sort](Version.objects.filter(pk__in=shown))
    keys = list(versions.values_list("entry_id", flat=True)[start : start + size])
    entries = among.filter(is_among("pk", keys)).in_bulk()
    return [entries[key] for key in keys if key in entries]


def row_condition(filters: Filters) -> Q:
    """Return the filters on a version and its entry as one condition on the version."""
    condition = Q(*conditions_of(filters), entry__merged_into__isnull=filters.state != MERGED)
    if filters.state == SUSPENDED:
        condition &= Q(entry__suspended_at__isnull=False)
    return condition


def _by_risk(versions: QuerySet[Version]) -> QuerySet[Version]:
    places = [
        When(risk=risk, then=Value(place)) for place, risk in enumerate(reversed(Risk.values))
    ]
    return versions.order_by(Case(*places, default=Value(len(places))), "-entry_id")


_ORDERS: Mapping[Sort, Callable[[QuerySet[Version]], QuerySet[Version]]] = {
    Sort.NEWEST: lambda versions: versions.order_by("-entry_id"),
    Sort.USED: lambda versions: versions.annotate(times=Count("uses")).order_by(
        "-times", "-entry_id"
    ),
    Sort.NAME: lambda versions: versions.order_by("entry__title", "entry_id"),
    Sort.RISK: _by_risk,
    Sort.VERIFIED: lambda versions: versions.order_by(
        F("verified_at").desc(nulls_last=True), "-entry_id"
    ),
    Sort.STALE: lambda versions: versions.order_by(
        F("verified_at").asc(nulls_last=True), "entry_id"
    ),
}
