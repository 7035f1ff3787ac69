"""Add reviewers to a campaign, pause them, and limit their number of items."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from core.audit import record
from core.errors import BadInput
from review.models import Assignment, Campaign, Member
from review.queue.members import add_member, people_who_review

_LIVE = [Assignment.State.ACTIVE, Assignment.State.WAITING]


def people_outside(campaign: Campaign) -> QuerySet[User]:
    """Return the users who may review and are not members of the campaign."""
    return people_who_review().exclude(memberships__campaign=campaign)


@transaction.atomic
def add_reviewer(campaign: Campaign, user: User, *, by: User, limit: int | None = None) -> Member:
    """Add a reviewer to the campaign. Raises BadInput if the user may not review or the limit is invalid."""
    if not people_who_review().filter(pk=user.pk).exists():
        raise BadInput(_("This user does not have the Reviewer role."), field="user")
    if limit is not None and not 1 <= limit <= 1_000_000:
        raise BadInput(_("Enter a whole number of at least 1."), field="limit")
    return add_member(campaign, user, by=by, limit=limit)


@transaction.atomic
def choose_reviewers(campaign: Campaign, people: Sequence[User], *, by: User) -> None:
    """Make these users the campaign's reviewers, and remove all other members.

    Raises BadInput if a user may not review, or if a member to remove has had items. Such members can only be paused.
    """
    there = {one.user_id: one for one in campaign.members.select_related("user")}
    wanted = {one.pk for one in people}
    gone = [one for user, one in there.items() if user not in wanted]
    had = Assignment.objects.filter(item__campaign=campaign)
    if had.filter(reviewer__in=[one.user_id for one in gone]).exists():
        raise BadInput(
            _(
                "One of the removed reviewers already has items. Pause that reviewer on the Reviewers page instead."
            ),
            field="people",
        )
    for person in people:
        if person.pk not in there:
            add_reviewer(campaign, person, by=by)
    for member in gone:
        record(campaign, "reviewer taken away", by=by, reviewer=(member.user.username, ""))
        member.delete()


@transaction.atomic
def add_everybody(campaign: Campaign, *, by: User) -> int:
    """Add all users who may review and are not members yet, and return the number of new members."""
    people = list(people_outside(campaign))
    for user in people:
        add_member(campaign, user, by=by)
    return len(people)


@transaction.atomic
def set_limit(member: Member, limit: int | None, *, by: User) -> None:
    """Set the reviewer's maximum number of items. With None, the campaign's limit applies."""
    if limit is not None and not 1 <= limit <= 1_000_000:
        raise BadInput(_("Enter a whole number of at least 1."), field="limit")
    add_member(member.campaign, member.user, by=by, limit=limit)


@transaction.atomic
def pause_member(member: Member, *, paused: bool, by: User) -> None:
    """Pause or resume assigning items to a reviewer. Claimed items stay assigned until their leases expire."""
    at = timezone.now() if paused else None
    changed = Member.objects.filter(pk=member.pk, paused_at__isnull=paused).update(paused_at=at)
    if changed:
        event = "reviewer paused" if paused else "reviewer taken back"
        record(member.campaign, event, by=by, reviewer=("", member.user.username))


def held_items(campaign: Campaign) -> QuerySet[Assignment]:
    """Return the campaign's active and waiting assignments, oldest first."""
    return (
        Assignment.objects.filter(item__campaign=campaign, state__in=_LIVE)
        .select_related("item__case__action", "reviewer")
        .order_by("pk")
    )
