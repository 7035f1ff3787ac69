"""A reviewer's studies, with the numbers of waiting and finished items."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from review.models import Assignment, Campaign, Case, Member
from review.queue.eligible_counts import count_eligible
from review.queue.overview.later_items import Later, read_later

# Stop counting here, because the count only shows whether it is worth starting.
MOST_COUNTED = 99
_MOST_STUDIES = 50


@dataclass(frozen=True)
class Study:
    """A study and the numbers of a reviewer's items.

    `waiting` is at most MOST_COUNTED. `later` items become available after a break.
    """

    campaign: Campaign
    member: Member | None
    waiting: int
    done: int
    is_training: bool
    later: Later | None = None

    @property
    def limit(self) -> int | None:
        return (self.member.limit if self.member else None) or self.campaign.limit_each

    @property
    def is_through(self) -> bool:
        """Return whether the reviewer has reached the item limit."""
        return self.limit is not None and self.done >= self.limit


def takes_part(user: User) -> Q:
    """Return a condition for the studies that the user reviews or may join."""
    mine = Member.objects.filter(campaign=OuterRef("pk"), user=user)
    return Q(kind=Campaign.Kind.STUDY) & (Q(open_to_all=True) | Q(Exists(mine)))


def studies_under_way(user: User) -> QuerySet[Campaign]:
    """Return the active studies that the user reviews or may join."""
    states = (Campaign.State.SETUP, Campaign.State.CLOSED)
    return Campaign.objects.filter(takes_part(user)).exclude(state__in=states)


def studies_of(user: User) -> list[Study]:
    """Return the user's active studies, newest first, using a fixed number of queries."""
    campaigns = list(studies_under_way(user).order_by("-pk")[:_MOST_STUDIES])
    return read_studies(campaigns, user)


def read_studies(campaigns: list[Campaign], user: User) -> list[Study]:
    """Return each campaign with the user's numbers of waiting and finished items."""
    members = {
        one.campaign_id: one for one in Member.objects.filter(campaign__in=campaigns, user=user)
    }
    training = set(
        Case.objects.filter(campaign__in=campaigns, purpose=Case.Purpose.TRAINING)
        .order_by()
        .values_list("campaign", flat=True)
        .distinct()
    )
    # In a study that is open to every reviewer, a reviewer becomes a member with the first claim.
    places = {one: members.get(one.pk) or Member(campaign=one, user=user) for one in campaigns}
    waiting = count_eligible(places, user, most=MOST_COUNTED, with_training=training)
    done = dict(
        Assignment.objects.filter(
            item__campaign__in=campaigns,
            reviewer=user,
            state=Assignment.State.SUBMITTED,
        )
        # Include gold items and repeats, as in `review.queue.claims`. An unchanged count would reveal them.
        .exclude(item__case__purpose=Case.Purpose.TRAINING)
        .order_by()
        .values_list("item__campaign")
        .annotate(count=Count("pk"))
    )
    later = read_later(campaigns, [user.pk])
    return [
        Study(
            campaign=one,
            member=members.get(one.pk),
            waiting=waiting.get(one.pk, 0),
            done=done.get(one.pk, 0),
            is_training=one.pk in training and not _is_trained(members.get(one.pk)),
            later=later.get((one.pk, user.pk)),
        )
        for one in campaigns
    ]


def _is_trained(member: Member | None) -> bool:
    return member is not None and member.trained_at is not None
