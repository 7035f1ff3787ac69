"""Rubric versions: their numbers of scores, and managers' decisions about scores under older versions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import transaction
from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from core.audit import events_of, record
from core.errors import BadInput, NotAllowedNow
from review.models import Assignment, Campaign, Rubric, Score, SentBack
from review.queue.reassignment import send_back

_SECONDS_KEPT = 60
_SMALL = 3_000
MOST_AT_ONCE = 500
MAX_WHY = 2_000
KEPT, ASKED_AGAIN = "earlier scores kept", "earlier scores asked again"
WHAT = {KEPT: gettext_lazy("kept"), ASKED_AGAIN: gettext_lazy("sent back")}


@dataclass(frozen=True)
class RubricChoice:
    """A manager's decision about scores that were given before a change to the rubric."""

    rubric: int  # number of the version that required the decision
    what: str  # KEPT or ASKED_AGAIN
    items: int
    why: str
    by: str
    at: datetime


@dataclass(frozen=True)
class RubricUse:
    """A rubric version, with the number of current scores that refer to it."""

    rubric: Rubric
    scores: int
    is_newest: bool


def rubric_uses(campaign: Campaign) -> list[RubricUse]:
    """Return all rubric versions, newest first. Large counts are cached for a minute."""
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
    """Return finished assignments with scores under an earlier version, unless they were sent back since the change."""
    newest = campaign.rubrics.order_by("-number").values("pk")[:1]
    older = Score.objects.filter(
        assignment=OuterRef("pk"), current=True, rubric__isnull=False
    ).exclude(rubric=newest)
    # Exclude items that were already sent back since the change, even if the reviewer kept the scores.
    asked = SentBack.objects.filter(
        assignment=OuterRef("pk"),
        at__gte=Subquery(campaign.rubrics.order_by("-number").values("created_at")[:1]),
    )
    return Assignment.objects.filter(
        Exists(older),
        ~Exists(asked),
        item__campaign=campaign,
        state=Assignment.State.SUBMITTED,
    ).order_by("pk")


def count_undecided(campaign: Campaign) -> int:
    """Return the number of reviews under earlier versions that still need a decision."""
    waiting = scored_under_older(campaign).count()
    if not waiting:
        return 0
    newest = campaign.rubrics.order_by("-number").values_list("number", flat=True)[0]
    is_kept = any(one.rubric == newest and one.what == KEPT for one in rubric_choices(campaign))
    return 0 if is_kept else waiting


def is_undecided(campaign: Campaign) -> bool:
    """Return whether scores under earlier versions still need a decision. The result is cached for a minute."""
    newest = campaign.rubrics.order_by("-number").values_list("number", flat=True).first()
    if newest is None or newest < 2:
        return False
    key = _undecided_key(campaign, newest)
    found: bool | None = cache.get(key)
    if found is None:
        found = count_undecided(campaign) > 0
        cache.set(key, found, _SECONDS_KEPT)
    return found


def rubric_choices(campaign: Campaign) -> list[RubricChoice]:
    """Return the decisions about scores under earlier versions, oldest first."""
    return [
        RubricChoice(
            rubric=int(one.changes["rubric"][1]),
            what=one.additional_data["event"],
            items=int(one.changes["items"][1]),
            why=one.changes["why"][1],
            by=one.actor.get_username() if one.actor else "",
            at=one.timestamp,
        )
        for one in events_of(campaign, KEPT, ASKED_AGAIN)
    ]


@transaction.atomic
def keep_older_scores(campaign: Campaign, *, why: str, by: User) -> int:
    """Record that scores under earlier versions are kept, and return the number of affected reviews.

    Raises BadInput if the reason is missing, and NotAllowedNow if no decision is needed.
    """
    count = _check_undecided(campaign, why)
    _note(campaign, KEPT, items=count, why=why, by=by)
    return count


@transaction.atomic
def send_back_older_scores(campaign: Campaign, *, why: str, by: User) -> int:
    """Send back up to MOST_AT_ONCE items with scores under earlier versions, and return their number.

    A reviewer's next claim returns these items first. Scores are kept unless the reviewer changes them. Raises BadInput
    if the reason is missing, and NotAllowedNow if no decision is needed.
    """
    _check_undecided(campaign, why)
    found = list(scored_under_older(campaign).select_related("item", "reviewer")[:MOST_AT_ONCE])
    for assignment in found:
        send_back(assignment, why=why, by=by)
    _note(campaign, ASKED_AGAIN, items=len(found), why=why, by=by)
    return len(found)


def _check_undecided(campaign: Campaign, why: str) -> int:
    if not why.strip() or len(why) > MAX_WHY or "\0" in why:
        raise BadInput(_("Enter a short reason."), field="why")
    count = count_undecided(campaign)
    if not count:
        raise NotAllowedNow(_("No reviews under an earlier rubric version need a decision."))
    return count


def _undecided_key(campaign: Campaign, rubric: int) -> str:
    return f"rubric-undecided-{campaign.pk}-{rubric}"


def _note(campaign: Campaign, what: str, *, items: int, why: str, by: User) -> None:
    newest = campaign.rubrics.order_by("-number")[0].number
    record(campaign, what, by=by, rubric=("", newest), items=("", items), why=("", why.strip()))
    cache.delete_many([f"rubric-uses-{campaign.pk}", _undecided_key(campaign, newest)])
