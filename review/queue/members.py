"""Who may be given items of a campaign: people who review, and members of a study."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Q, QuerySet

from core.audit import record
from review.models import Assignment, Campaign, Case, Member
from review.sampling import seed_of


def people_who_review() -> QuerySet[User]:
    """Everybody whose role lets them review."""
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
    """Return the keys of the reviewers of a study who may take a further item: not paused, and below their limit."""
    members = {one.user_id: one for one in campaign.members.all()}
    done = dict(
        Assignment.objects.filter(item__campaign=campaign, state__in=Assignment.HOLDING)
        .exclude(item__case__purpose=Case.Purpose.TRAINING)
        .order_by()
        .values_list("reviewer")
        .annotate(count=Count("pk"))
    )
    found = []
    for key in people_who_review().values_list("pk", flat=True):
        member = members.get(key)
        limit = (member.limit if member else None) or campaign.limit_each
        is_let_in = campaign.open_to_all if member is None else member.paused_at is None
        if is_let_in and not (limit and done.get(key, 0) >= limit):
            found.append(key)
    return found


def reviewers_for(campaign: Campaign) -> QuerySet[User]:
    """Who can be given an item by name: members who may review and are not paused."""
    return people_who_review().filter(memberships__campaign=campaign, memberships__paused_at=None)


@transaction.atomic
def add_member(
    campaign: Campaign, user: User, *, by: User | None, limit: int | None = None
) -> Member:
    """Let a person review in the campaign, in an order of their own; a second time changes the limit only."""
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
