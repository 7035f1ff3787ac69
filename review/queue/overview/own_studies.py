"""The studies a reviewer takes part in: how many items wait for them, and what they have done."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from review.models import Assignment, Campaign, Case, Member
from review.queue.eligible_counts import count_eligible
from review.queue.overview.later_items import Later, read_later

# More than this are not counted: the number only says whether it is worth to begin.
MOST_COUNTED = 99
_MOST_STUDIES = 50


@dataclass(frozen=True)
class Study:
    """One campaign as its reviewer sees it. `waiting` ends at MOST_COUNTED; `later` comes when it may, see there."""

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
        """Whether the person has done as many items as were asked of them."""
        return self.limit is not None and self.done >= self.limit


def takes_part(user: User) -> Q:
    """The condition on campaigns that this person reviews in them, or may."""
    mine = Member.objects.filter(campaign=OuterRef("pk"), user=user)
    return Q(kind=Campaign.Kind.STUDY) & (Q(open_to_all=True) | Q(Exists(mine)))


def studies_under_way(user: User) -> QuerySet[Campaign]:
    """The campaigns under way in which the person reviews, or may."""
    states = (Campaign.State.SETUP, Campaign.State.CLOSED)
    return Campaign.objects.filter(takes_part(user)).exclude(state__in=states)


def studies_of(user: User) -> list[Study]:
    """Those under way, newest first; the number of queries does not grow with them."""
    campaigns = list(studies_under_way(user).order_by("-pk")[:_MOST_STUDIES])
    return read_studies(campaigns, user)


def read_studies(campaigns: list[Campaign], user: User) -> list[Study]:
    """What waits and what is done in each of these."""
    members = {
        one.campaign_id: one for one in Member.objects.filter(campaign__in=campaigns, user=user)
    }
    training = set(
        Case.objects.filter(campaign__in=campaigns, purpose=Case.Purpose.TRAINING)
        .order_by()
        .values_list("campaign", flat=True)
        .distinct()
    )
    # Who is let in by "open to every reviewer" becomes a member with the first item.
    places = {one: members.get(one.pk) or Member(campaign=one, user=user) for one in campaigns}
    waiting = count_eligible(places, user, most=MOST_COUNTED, with_training=training)
    done = dict(
        Assignment.objects.filter(
            item__campaign__in=campaigns,
            reviewer=user,
            state=Assignment.State.SUBMITTED,
        )
        # As in `review.queue.claims`: a count that stood still would tell what is gold, or shown again.
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
