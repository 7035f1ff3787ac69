"""A reviewer's own pace and place: what they got through, and what came back. Nobody is shown somebody else's."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from statistics import median

from django.contrib.auth.models import User
from django.db.models import Count, Min, Q
from django.utils import timezone

from pipeline.models import Run
from review.models import Assignment, Campaign, Case, Score
from review.queue.reviewer_checks.repeats import SITTING_GAP

# Nobody gets through more in a day and a half; what is more is not read.
_MOST = 5_000


@dataclass(frozen=True)
class Pace:
    """What one person did today, by their own clock, and since their sitting began."""

    today: int  # items they are through with
    sitting: int | None  # those of the sitting under way; None where none is
    sitting_minutes: float
    # Of work on one item, by today's, without pauses; None where the page counted none.
    median_seconds: float | None
    pauses: int

    @property
    def sitting_milliseconds(self) -> int:
        return round(self.sitting_minutes * 60_000)

    @property
    def median_milliseconds(self) -> int | None:
        return None if self.median_seconds is None else round(self.median_seconds * 1_000)


def own_pace(user: User) -> Pace:
    """The person's own, in two queries."""
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
    """How far one person is in one campaign."""

    done: int  # of the live queue, those of today
    back: int  # items that they sent to be rewritten and that are ready
    back_item: int | None  # the first of these


def own_place(campaign: Campaign, user: User, *, beside: int) -> Place:
    """The person's place in a campaign, in one query; what came back is counted without the item `beside`."""
    is_done = is_read = Q(state=Assignment.State.SUBMITTED)
    if campaign.is_live:
        # Of years of reviewing only today is read.
        is_done = is_read = is_done & Q(
            ended_at__gte=timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
        )
    else:
        # As in `review.queue.claims`: gold and what is shown again count like the others.
        is_done &= ~Q(item__case__purpose=Case.Purpose.TRAINING)
    is_back = (
        Q(state=Assignment.State.WAITING)
        & ~Q(item__run__state__in=[Run.State.QUEUED, Run.State.RUNNING])
        & ~Q(item=beside)
    )
    found = Assignment.objects.filter(
        is_read | Q(state=Assignment.State.WAITING), item__campaign=campaign, reviewer=user
    ).aggregate(
        done=Count("pk", filter=is_done),
        back=Count("pk", filter=is_back),
        back_item=Min("item", filter=is_back),
    )
    return Place(**found)
