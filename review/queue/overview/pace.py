"""A reviewer's own pace and position in a campaign, shown to that reviewer only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from statistics import median

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.utils import timezone

from core.database.prepared import PreparedQuery
from pipeline.models import Run
from review.models import Assignment, Campaign, Score
from review.queue.reviewer_checks.repeats import SITTING_GAP

# Maximum number of assignments to read, more than a reviewer can complete in a day and a half.
_MOST = 5_000


@dataclass(frozen=True)
class Pace:
    """A reviewer's work today (in the reviewer's time zone) and in the current session."""

    today: int  # finished items
    sitting: int | None  # finished in the current session; None without a session
    sitting_minutes: float
    # Median time per item today, excluding pauses. None if the page recorded no time.
    median_seconds: float | None
    pauses: int

    @property
    def sitting_milliseconds(self) -> int:
        return round(self.sitting_minutes * 60_000)

    @property
    def median_milliseconds(self) -> int | None:
        return None if self.median_seconds is None else round(self.median_seconds * 1_000)


def own_pace(user: User) -> Pace:
    """Return the reviewer's pace, using two queries."""
    now = timezone.now()
    midnight = timezone.localtime(now).replace(hour=0, minute=0, second=0, microsecond=0)
    last = (
        Score.objects.filter(reviewer=user, imported=False, at__gt=now - SITTING_GAP)
        .order_by("-pk")
        .values_list("at", "sitting_minutes")
        .first()
    )
    began = last[0] - timedelta(minutes=last[1] or 0) if last else None
    done = list(
        Assignment.objects.filter(
            reviewer=user,
            state=Assignment.State.SUBMITTED,
            ended_at__gte=min(midnight, began or midnight),
        )
        .order_by("-ended_at")
        .only("ended_at", "active_seconds", "pauses")[:_MOST]
    )
    todays = [one for one in done if one.ended_at and one.ended_at >= midnight]
    worked = [total for one in todays if (total := sum(one.active_seconds.values())) > 0]
    return Pace(
        today=len(todays),
        sitting=sum(bool(one.ended_at and one.ended_at >= began) for one in done)
        if began
        else None,
        sitting_minutes=(now - began).total_seconds() / 60 if began else 0.0,
        median_seconds=median(worked) if worked else None,
        pauses=sum(one.pauses for one in todays),
    )


@dataclass(frozen=True)
class Place:
    """A reviewer's position in one campaign."""

    # The number of the current item, starting at 1: among all items assigned in a study, or among today's items in the
    # review queue. None if the item was not assigned.
    number: int | None
    back: int  # items that are ready after a refinement
    back_item: int | None  # the first of these items


def own_place(
    campaign: Campaign, user: User, *, beside: int, assignment: Assignment | None = None
) -> Place:
    """Return the reviewer's position in a campaign. `back` excludes the item `beside`.

    In a study, the position includes training items, gold items and repeats. Released and expired assignments are
    excluded, because the reviewer may get these items again.
    """
    number = None
    if campaign.is_live:
        loose = _read_waiting(campaign.pk, user.pk)
        is_done = assignment is not None and assignment.state == Assignment.State.SUBMITTED
        number = max(1, count_today(campaign, user) + (not is_done))
    else:
        # Skip the query if the claim found no loose assignments.
        has_loose = getattr(assignment, "has_loose", True)
        loose = _read_loose(campaign.pk, user.pk) if has_loose else []
        if assignment is not None and assignment.position:
            number = assignment.position - _count_let_go(loose, before=assignment.position)
    ready = [one.item_id for one in loose if one.is_ready and one.item_id != beside]  # type: ignore[attr-defined]
    return Place(number=number, back=len(ready), back_item=min(ready, default=None))


def count_given(campaign: Campaign, user: User) -> int:
    """Return how many items of a study the reviewer was assigned, excluding released and expired assignments."""
    given = Assignment.objects.filter(item__campaign=campaign, reviewer=user, position__gt=0)
    last = given.order_by("-pk").values_list("position", flat=True).first() or 0
    return last - _count_let_go(_read_loose(campaign.pk, user.pk), before=last + 1)


def count_held(campaign: Campaign, user: User) -> int:
    """Return the number of the reviewer's unfinished items, including items that are waiting for feedback."""
    states = [Assignment.State.ACTIVE, Assignment.State.WAITING]
    return Assignment.objects.filter(
        item__campaign=campaign, reviewer=user, state__in=states
    ).count()


def count_today(campaign: Campaign, user: User) -> int:
    """Return how many items of a campaign the reviewer has finished today."""
    midnight = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    # The lower bound lets PostgreSQL use an index, instead of reading years of assignments.
    return Assignment.objects.filter(
        item__campaign=campaign,
        reviewer=user,
        state=Assignment.State.SUBMITTED,
        ended_at__gte=midnight,
    ).count()


def _count_let_go(loose: list[Assignment], *, before: int) -> int:
    return sum(one.state in _LET_GO and 0 < one.position < before for one in loose)


_LET_GO = (Assignment.State.RELEASED, Assignment.State.EXPIRED)


def _loose(campaign: int, reviewer: int, states: Sequence[str]) -> QuerySet[Assignment]:
    """Return the reviewer's assignments in these states. `is_ready` marks waiting assignments whose run has ended."""
    is_written = ~Q(item__run__state__in=[Run.State.QUEUED, Run.State.RUNNING])
    return (
        Assignment.objects.filter(item__campaign=campaign, reviewer=reviewer, state__in=states)
        .annotate(is_ready=Q(state=Assignment.State.WAITING) & is_written)
        .only("item_id", "state", "position")
    )


def _waiting(campaign: int, reviewer: int) -> QuerySet[Assignment]:
    """Return the reviewer's waiting assignments, without the many expired assignments of the review queue."""
    return _loose(campaign, reviewer, [Assignment.State.WAITING])


def _loose_of_study(campaign: int, reviewer: int) -> QuerySet[Assignment]:
    return _loose(campaign, reviewer, Assignment.LOOSE)


_read_waiting = PreparedQuery(_waiting)
_read_loose = PreparedQuery(_loose_of_study)
