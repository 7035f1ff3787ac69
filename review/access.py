"""The only way for a view or the API to get a review's objects: 404 if unknown, 403 if not theirs."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _

from review.models import Assignment, Campaign, Item


def access_queue(user: User) -> Campaign:
    """The live queue, for people who review."""
    if not user.has_perm("review.review"):
        raise PermissionDenied(_("Reviewing takes the role “reviewer”."))
    return get_object_or_404(Campaign, kind=Campaign.Kind.LIVE)


def access_item(user: User, pk: int) -> Item:
    """An item to look at: in the live queue for reviewers and managers, in a study for its members and managers."""
    item = get_object_or_404(
        Item.objects.select_related(
            "campaign", "case", "configuration", "run__action", "run__configuration"
        ),
        pk=pk,
    )
    manages = user.has_perm("review.manage_campaigns")
    if not (manages or user.has_perm("review.review")):
        raise PermissionDenied(_("Reviewing takes the role “reviewer”."))
    if not (
        manages or item.campaign.open_to_all or item.campaign.members.filter(user=user).exists()
    ):
        raise PermissionDenied(_("You are not a reviewer of this campaign."))
    return item


def access_assignment(user: User, item: Item) -> Assignment:
    """The person's own live assignment on an item; 403 where it is somebody else's or nobody's."""
    assignment = item.assignments.filter(
        reviewer=user, state__in=[Assignment.State.ACTIVE, Assignment.State.WAITING]
    ).first()
    if assignment is None:
        raise PermissionDenied(_("You don't hold this item."))
    return assignment
