"""Arms of one statement never come in one sitting: how many items a person is to get later for that, and when.

Without a word of it a small study looks done: nothing waits now, and ten items come half an hour later.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db.models import Exists, Max, OuterRef, Subquery
from django.utils import timezone

from pipeline.models import Draft, Feedback
from review.models import Assignment, Campaign, Case, Item
from review.queue.reviewer_checks.repeats import SITTING_GAP


@dataclass(frozen=True)
class Later:
    """So many items come for this person, the first of them at this time."""

    items: int
    at: datetime


def items_later(campaign: Campaign, user: User) -> Later | None:
    """What this person could take but for another arm that they had within the half hour; None for nothing.

    One query, whatever the number of items: of a small number of recent assignments.
    """
    since = timezone.now() - SITTING_GAP
    recent = Assignment.objects.filter(
        item__campaign=campaign,
        reviewer=user,
        state__in=Assignment.HOLDING,
        created_at__gt=since,
    )
    dealt_with = Assignment.objects.filter(item=OuterRef("pk"), reviewer=user).exclude(
        state__in=[Assignment.State.RELEASED, Assignment.State.EXPIRED]
    )
    newest = (
        recent.filter(item__case=OuterRef("case"))
        .order_by()
        .values("item__case")
        .annotate(newest=Max("created_at"))
        .values("newest")
    )
    waiting = (
        Item.objects.waiting()
        .filter(
            ~Exists(dealt_with),
            ~Exists(Draft.objects.filter(run=OuterRef("run"), author=user)),
            ~Exists(Feedback.objects.filter(draft__run=OuterRef("run"), author=user)),
            campaign=campaign,
            case__purpose=Case.Purpose.REAL,
            case__in=recent.values("item__case"),
        )
        .annotate(blocked_since=Subquery(newest))
        .values_list("blocked_since", flat=True)
    )
    times = sorted(one for one in waiting if one is not None)
    return Later(len(times), times[0] + SITTING_GAP) if times else None


def items_later_of_all(campaign: Campaign) -> dict[int, Later]:
    """The same of every reviewer of the campaign who had something within the half hour, by their key."""
    since = timezone.now() - SITTING_GAP
    people = User.objects.filter(
        pk__in=Assignment.objects.filter(
            item__campaign=campaign, state__in=Assignment.HOLDING, created_at__gt=since
        ).values("reviewer")
    )
    found = {person.pk: items_later(campaign, person) for person in people}
    return {key: later for key, later in found.items() if later is not None}
