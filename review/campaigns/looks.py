"""Logs each view of a study's figures: on pages, through the API, by commands and in files."""

from __future__ import annotations

from datetime import timedelta

from django.contrib.auth.models import User
from django.utils import timezone

from review.counting.tallies import read_tallies
from review.models import Campaign, ReportLook, Tally
from review.study import Criterion, ItemPattern
from review.study.types import Origin

# Switching between strict and partial is not another view.
SAME_LOOK = timedelta(minutes=10)


def log_look(campaign: Campaign, what: ReportLook.What, *, by: User | None) -> None:
    """Record that a user saw the figures of a study. Log at most one view in ten minutes while the figures stay the
    same.

    `by` is None for the command line, whose user controls the machine. Views of the review queue are not recorded,
    because it has no figures that could end a study early.
    """
    if campaign.is_live:
        return
    same = {"by": by, "scored": count_scored(campaign), "what": what, "state": campaign.state}
    since = timezone.now() - SAME_LOOK
    if not campaign.looks.filter(at__gte=since, **same).exists():
        ReportLook.objects.create(campaign=campaign, **same)


def count_scored(campaign: Campaign) -> int:
    """Count the items whose script has a final score by reviewers under at least one criterion."""
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
