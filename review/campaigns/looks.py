"""Log each view of a study's figures on pages, in the API, by commands and in files."""

from __future__ import annotations

from datetime import timedelta

from django.contrib.auth.models import User
from django.utils import timezone

from review.counting.tallies import read_tallies
from review.models import Campaign, ReportLook, Tally
from review.study import Criterion, ItemPattern
from review.study.types import Origin

# Within this time, switching between strict and partial is not logged as another view.
SAME_LOOK = timedelta(minutes=10)


def log_look(campaign: Campaign, what: ReportLook.What, *, by: User | None) -> None:
    """Record that a user viewed a study's figures, unless the same view was recorded in the last ten minutes.

    `by` is None on the command line. Views of the review queue are not recorded, because they can't influence when a
    study ends.
    """
    if campaign.is_live:
        return
    same = {"by": by, "scored": count_scored(campaign), "what": what, "state": campaign.state}
    since = timezone.now() - SAME_LOOK
    if not campaign.looks.filter(at__gte=since, **same).exists():
        ReportLook.objects.create(campaign=campaign, **same)


def count_scored(campaign: Campaign) -> int:
    """Return the number of items whose script has a final score under at least one criterion."""
    return read_tallies(campaign, _count_scored)


def _count_scored(campaign: Campaign) -> int:
    rows = campaign.tallies.filter(kind=Tally.Kind.ITEM, count__gt=0).values_list(
        "pattern", "count"
    )
    return sum(
        count
        for pattern, count in ((ItemPattern.from_text(text), count) for text, count in rows)
        if pattern.origin not in (Origin.RETRIEVED, Origin.FAILED)
        and any(pattern.script.right(criterion) is not None for criterion in Criterion)
    )
