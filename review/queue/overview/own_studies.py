"""The studies a reviewer takes part in, with the numbers of waiting and finished items."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from review.models import Assignment, Campaign, Case, Member
from review.queue.eligible_counts import count_eligible
from review.queue.overview.later_items import Later, read_later

# Stop counting here, because the number only shows whether starting is worthwhile.
MOST_COUNTED = 99
_MOST_STUDIES = 50


@dataclass(frozen=True)
class Study:
    """A campaign as its reviewer sees it. `waiting` is at most MOST_COUNTED, and `later` items follow after a pause."""

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
        """Whether the reviewer has reached the limit of items."""
        return self.limit is not None and self.done >= self.limit


def takes_part(user: User) -> Q:
    """Return the condition that the user reviews in a campaign or may join it."""
    mine = Member.objects.filter(campaign=OuterRef("pk"), user=user)
    return Q(kind=Campaign.Kind.STUDY) & (Q(open_to_all=True) | Q(Exists(mine)))


def studies_under_way(user: User) -> QuerySet[Campaign]:
    """Return the campaigns under way in which the user reviews or may review."""
    states = (Campaign.State.SETUP, Campaign.State.CLOSED)
    return Campaign.objects.filter(takes_part(user)).exclude(state__in=states)


def studies_of(user: User) -> list[Study]:
    """Return the user's studies under way, newest first, in a fixed number of queries."""
    campaigns = list(studies_under_way(user).order_by("-pk")[:_MOST_STUDIES])
    return read_studies(campaigns, user)


def read_studies(campaigns: list[Campaign], user: User) -> list[Study]:
    """Return the numbers of waiting and finished items in each of these campaigns."""
    members = {
        one.campaign_id: one for one in Member.objects.filter(campaign__in=campaigns, user=user)
    }
    training = set(
        Case.objects.filter(campaign__in=campaigns, purpose=Case.Purpose.TRAINING)
        .order_by()
        .values_list("campaign", flat=True)
        .distinct()
    )
    # Reviewers admitted by "open to every reviewer" become members with their first item.
    places = {one: members.get(one.pk) or Member(campaign=one, user=user) for one in campaigns}
    waiting = count_eligible(places, user, most=MOST_COUNTED, with_training=training)
    done = dict(
        Assignment.objects.filter(
            item__campaign__in=campaigns,
            reviewer=user,
            state=Assignment.State.SUBMITTED,
        )
        # Gold items and repeats count, as in `review.queue.claims`. An unchanged count would reveal them.
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
