"""The rubric's versions: how many scores were given under each, and what becomes of those under older ones."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import transaction
from django.db.models import Count, Exists, OuterRef, QuerySet

from review.models import Assignment, Campaign, Rubric, Score
from review.sendback import send_back

_SECONDS_KEPT = 60
_SMALL = 3_000
MOST_AT_ONCE = 500


@dataclass(frozen=True)
class RubricUse:
    """One version, and the current scores that name it."""

    rubric: Rubric
    scores: int
    is_newest: bool


def rubric_uses(campaign: Campaign) -> list[RubricUse]:
    """Every version, newest first; counted once a minute where there is much to count."""
    rubrics = list(campaign.rubrics.select_related("created_by").order_by("-number"))
    if not rubrics:
        return []
    counts = cache.get(f"rubric-uses-{campaign.pk}")
    if counts is None:
        rows = Score.objects.filter(rubric__in=rubrics, current=True).order_by()
        counts = dict(rows.values_list("rubric").annotate(count=Count("pk")))
        if sum(counts.values()) > _SMALL:
            cache.set(f"rubric-uses-{campaign.pk}", counts, _SECONDS_KEPT)
    return [
        RubricUse(one, counts.get(one.pk, 0), is_newest=one.pk == rubrics[0].pk) for one in rubrics
    ]


def scored_under_older(campaign: Campaign) -> QuerySet[Assignment]:
    """What reviewers are through with and scored, in part at least, under an earlier version."""
    newest = campaign.rubrics.order_by("-number").values("pk")[:1]
    older = Score.objects.filter(
        assignment=OuterRef("pk"), current=True, rubric__isnull=False
    ).exclude(rubric=newest)
    return Assignment.objects.filter(
        Exists(older), item__campaign=campaign, state=Assignment.State.SUBMITTED
    ).order_by("pk")


@transaction.atomic
def send_back_older(campaign: Campaign, *, why: str, by: User) -> int:
    """Send back what was scored under earlier versions, MOST_AT_ONCE at a time; returns how many.

    Each comes first when its reviewer asks for work; their scores are kept until they change them. Raises
    BadInput without a reason.
    """
    found = list(
        scored_under_older(campaign)
        .filter(sent_back=None)
        .select_related("item", "reviewer")[:MOST_AT_ONCE]
    )
    for assignment in found:
        send_back(assignment, why=why, by=by)
    cache.delete(f"rubric-uses-{campaign.pk}")
    return len(found)
