"""Check users' access to review objects such as items and campaigns.

Views and the API read objects only through this module. An unknown object raises Http404, and a forbidden object raises
PermissionDenied.
"""

from __future__ import annotations

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _

from review.blinding.item_queries import lock_item, read_item
from review.models import Assignment, Campaign, Item, ReportSnapshot, Transfer

REVIEW = "review.review"
MANAGE_CAMPAIGNS = "review.manage_campaigns"


def require_reviewer(user: User) -> None:
    """Raise PermissionDenied if the user is not a reviewer, regardless of other roles."""
    if not user.has_perm(REVIEW):
        raise PermissionDenied(_("Reviewing requires the Reviewer role."))


def access_queue(user: User) -> Campaign:
    """Return the review queue if the user is a reviewer."""
    require_reviewer(user)
    return get_object_or_404(Campaign, kind=Campaign.Kind.LIVE)


def access_item(user: User, pk: int) -> Item:
    """Return an item for the user to view.

    Reviewers and managers may view items in the review queue. Only members and managers may view a study's items. To
    change an item, use `access_item_to_review` or `access_managed_item`.
    """
    item = next(iter(read_item(pk, user.pk)), None)
    if item is None:
        raise Http404
    if not user.has_perm("review.manage_campaigns"):
        _require_place(user, item)
    return item


def access_item_to_review(user: User, pk: int, *, lock: bool = False) -> Item:
    """Return an item for a reviewer to claim, score or decide on. In a study, the reviewer must be a member.

    Managers without the Reviewer role have no access. `lock` locks the item's row until the current transaction ends.
    """
    item = next(iter(lock_item(pk, user.pk) if lock else read_item(pk, user.pk)), None)
    if item is None:
        raise Http404
    _require_place(user, item)
    return item


def _require_place(user: User, item: Item) -> None:
    require_reviewer(user)
    if not (item.campaign.open_to_all or item.for_member):  # type: ignore[attr-defined]
        raise PermissionDenied(_("You are not a reviewer in this study."))


def access_managed_item(user: User, pk: int) -> Item:
    """Return an item to assign to other users. The user must be a manager."""
    if not user.has_perm("review.manage_campaigns"):
        raise PermissionDenied(_("Assigning items requires the Manager role."))
    return get_object_or_404(Item.objects.select_related("campaign", "case__action"), pk=pk)


def access_assignment(user: User, item: Item) -> Assignment:
    """Return the user's own active or waiting assignment to an item, or raise PermissionDenied."""
    assignment = item.assignments.filter(
        reviewer=user, state__in=[Assignment.State.ACTIVE, Assignment.State.WAITING]
    ).first()
    if assignment is None:
        raise PermissionDenied(_("You haven't claimed this item."))
    return assignment


def access_study(user: User, pk: int) -> Campaign:
    """Return a study for a reviewer who is a member, or for any reviewer if the study is open to all."""
    require_reviewer(user)
    campaign = get_object_or_404(Campaign, pk=pk, kind=Campaign.Kind.STUDY)
    if not campaign.open_to_all and not campaign.members.filter(user=user).exists():
        raise PermissionDenied(_("You are not a reviewer in this study."))
    return campaign


def access_campaigns(user: User) -> QuerySet[Campaign]:
    """Return all studies if the user is a manager."""
    if not user.has_perm("review.manage_campaigns"):
        raise PermissionDenied(_("Studies require the Manager role."))
    return Campaign.objects.filter(kind=Campaign.Kind.STUDY)


def access_campaign(user: User, pk: int) -> Campaign:
    """Return a study for a manager. Other users have no access, because its pages would unblind reviewers."""
    return get_object_or_404(access_campaigns(user).select_related("batch"), pk=pk)


def access_report(user: User, pk: int) -> Campaign:
    """Return a study for its report. Only managers have access, because reports would unblind reviewers."""
    _require_reports(user)
    return get_object_or_404(Campaign, pk=pk, kind=Campaign.Kind.STUDY)


def access_live_report(user: User) -> Campaign:
    """Return the review queue for its report on execution, if the user is a manager."""
    _require_reports(user)
    return get_object_or_404(Campaign, kind=Campaign.Kind.LIVE)


def access_snapshots(user: User) -> QuerySet[ReportSnapshot]:
    """Return the saved report snapshots if the user is a manager."""
    _require_reports(user)
    return ReportSnapshot.objects.all()


def _require_reports(user: User) -> None:
    if not user.has_perm("review.manage_campaigns"):
        raise PermissionDenied(_("Reports require the Manager role."))


def access_transfer(user: User, pk: int) -> Transfer:
    """Return an import or export. Only managers have access, because the file would unblind reviewers."""
    if not user.has_perm("review.manage_campaigns"):
        raise PermissionDenied(_("Importing and exporting require the Manager role."))
    return get_object_or_404(Transfer.objects.select_related("campaign", "by"), pk=pk)
