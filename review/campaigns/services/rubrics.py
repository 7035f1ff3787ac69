"""Versions of a rubric: how many scores each has, and what a manager decides about scores under older ones."""

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
WHAT = {KEPT: gettext_lazy("kept"), ASKED_AGAIN: gettext_lazy("asked again")}


@dataclass(frozen=True)
class RubricChoice:
    """What was said, after a change of the rubric, of the scores given before it."""

    rubric: int  # number of the version that brought it up
    what: str  # KEPT or ASKED_AGAIN
    items: int
    why: str
    by: str
    at: datetime


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
    """What reviewers are through with and scored, in part at least, under an earlier version; not what they were
    asked to look at again since."""
    newest = campaign.rubrics.order_by("-number").values("pk")[:1]
    older = Score.objects.filter(
        assignment=OuterRef("pk"), current=True, rubric__isnull=False
    ).exclude(rubric=newest)
    # Whoever was asked since, and left their scores as they are, is not asked for the same reason again.
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
    """How many items scored under earlier versions nobody has said anything of; 0 where all was said."""
    waiting = scored_under_older(campaign).count()
    if not waiting:
        return 0
    newest = campaign.rubrics.order_by("-number").values_list("number", flat=True)[0]
    is_kept = any(one.rubric == newest and one.what == KEPT for one in rubric_choices(campaign))
    return 0 if is_kept else waiting


def is_undecided(campaign: Campaign) -> bool:
    """Whether scores under earlier versions still wait for a word; asked of the scores once a minute."""
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
    """What was said of earlier scores, at each change of the rubric, the oldest first."""
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
    """Say that scores under earlier versions stay as they are; returns how many items that is about.

    Raises BadInput without a reason, NotAllowedNow where there is nothing to be said.
    """
    count = _check_undecided(campaign, why)
    _note(campaign, KEPT, items=count, why=why, by=by)
    return count


@transaction.atomic
def send_back_older_scores(campaign: Campaign, *, why: str, by: User) -> int:
    """Send back what was scored under earlier versions, MOST_AT_ONCE at a time; returns how many.

    Each comes first when its reviewer asks for work; their scores are kept until they change them. Raises
    BadInput without a reason, NotAllowedNow where there is nothing to be sent back.
    """
    _check_undecided(campaign, why)
    found = list(scored_under_older(campaign).select_related("item", "reviewer")[:MOST_AT_ONCE])
    for assignment in found:
        send_back(assignment, why=why, by=by)
    _note(campaign, ASKED_AGAIN, items=len(found), why=why, by=by)
    return len(found)


def _check_undecided(campaign: Campaign, why: str) -> int:
    if not why.strip() or len(why) > MAX_WHY or "\0" in why:
        raise BadInput(_("Say why, in a few words."), field="why")
    count = count_undecided(campaign)
    if not count:
        raise NotAllowedNow(
            _("Nothing scored under an earlier version of the rubric waits for this.")
        )
    return count


def _undecided_key(campaign: Campaign, rubric: int) -> str:
    return f"rubric-undecided-{campaign.pk}-{rubric}"


def _note(campaign: Campaign, what: str, *, items: int, why: str, by: User) -> None:
    newest = campaign.rubrics.order_by("-number")[0].number
    record(campaign, what, by=by, rubric=("", newest), items=("", items), why=("", why.strip()))
    cache.delete_many([f"rubric-uses-{campaign.pk}", _undecided_key(campaign, newest)])
