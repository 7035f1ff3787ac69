"""The users to whom a campaign's items can be assigned: reviewers, and members of a study."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery

from core.audit import record
from review.models import Assignment, Campaign, Case, Member
from review.sampling import seed_of


def people_who_review() -> QuerySet[User]:
    """Return all active users with the review permission."""
    may = Q(user_permissions__codename="review", user_permissions__content_type__app_label="review")
    by_role = Q(
        groups__permissions__codename="review",
        groups__permissions__content_type__app_label="review",
    )
    return (
        User.objects.filter(may | by_role | Q(is_superuser=True), is_active=True)
        .distinct()
        .order_by("username")
    )


def reviewers_with_room(campaign: Campaign) -> list[int]:
    """Return the keys of the study's reviewers who can claim another item: not paused, and below their limit."""
    mine = Member.objects.filter(campaign=campaign, user=OuterRef("pk"))
    held = Assignment.objects.filter(
        item__campaign=campaign, reviewer=OuterRef("pk"), state__in=Assignment.HOLDING
    ).exclude(item__case__purpose=Case.Purpose.TRAINING)
    found = people_who_review().annotate(
        limit=Subquery(mine.values("limit")[:1]),
        done=Subquery(held.order_by().values("reviewer").annotate(n=Count("pk")).values("n")),
    )
    found = found.exclude(Exists(mine.filter(paused_at__isnull=False)))
    return [
        one.pk
        for one in (found if campaign.open_to_all else found.filter(Exists(mine)))
        if not (limit := one.limit or campaign.limit_each) or (one.done or 0) < limit
    ]


def reviewers_for(campaign: Campaign) -> QuerySet[User]:
    """Return the users to whom an item can be assigned by name: active members with the review permission."""
    return people_who_review().filter(memberships__campaign=campaign, memberships__paused_at=None)


@transaction.atomic
def add_member(
    campaign: Campaign, user: User, *, by: User | None, limit: int | None = None
) -> Member:
    """Add a user to the campaign's reviewers, with an individual item order. Update the limit of an existing member."""
    member, created = Member.objects.get_or_create(
        campaign=campaign, user=user, defaults={"seed": seed_of(campaign, user), "limit": limit}
    )
    if created:
        record(campaign, "reviewer added", by=by, reviewer=("", user.username))
    elif member.limit != limit:
        record(campaign, "limit changed", by=by, limit=(member.limit, limit))
        member.limit = limit
        member.save(update_fields=["limit"])
    return member
