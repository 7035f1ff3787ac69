"""The only way for a view or the API to get a review's objects: 404 if unknown, 403 if not theirs."""

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
    """Raise PermissionDenied for who may not review, whatever else they may do."""
    if not user.has_perm(REVIEW):
        raise PermissionDenied(_("Reviewing takes the role “reviewer”."))


def access_queue(user: User) -> Campaign:
    """The live queue, for people who review."""
    require_reviewer(user)
    return get_object_or_404(Campaign, kind=Campaign.Kind.LIVE)


def access_item(user: User, pk: int) -> Item:
    """An item to look at: in the live queue for reviewers and managers, in a study for its members and managers.

    Whoever changes anything gets it from `access_item_to_review` or `access_managed_item`.
    """
    item = next(iter(read_item(pk, user.pk)), None)
    if item is None:
        raise Http404
    if not user.has_perm("review.manage_campaigns"):
        _require_place(user, item)
    return item


def access_item_to_review(user: User, pk: int, *, lock: bool = False) -> Item:
    """An item to claim, score, decide on or otherwise act on: for reviewers, in a study for those of its members.

    Managing campaigns is not enough. With `lock`, inside a transaction, it is read to be scored: nobody else
    writes to it meanwhile.
    """
    item = next(iter(lock_item(pk, user.pk) if lock else read_item(pk, user.pk)), None)
    if item is None:
        raise Http404
    _require_place(user, item)
    return item


def _require_place(user: User, item: Item) -> None:
    require_reviewer(user)
    if not (item.campaign.open_to_all or item.for_member):  # type: ignore[attr-defined]
        raise PermissionDenied(_("You are not a reviewer of this campaign."))


def access_managed_item(user: User, pk: int) -> Item:
    """An item to hand to others, of the live queue or of a study, for managers."""
    if not user.has_perm("review.manage_campaigns"):
        raise PermissionDenied(_("Giving items to others takes the role “manager”."))
    return get_object_or_404(Item.objects.select_related("campaign", "case__action"), pk=pk)


def access_assignment(user: User, item: Item) -> Assignment:
    """The person's own live assignment on an item; 403 where it is somebody else's or nobody's."""
    assignment = item.assignments.filter(
        reviewer=user, state__in=[Assignment.State.ACTIVE, Assignment.State.WAITING]
    ).first()
    if assignment is None:
        raise PermissionDenied(_("You don't hold this item."))
    return assignment


def access_study(user: User, pk: int) -> Campaign:
    """A study for those who review in it: its members, and every reviewer where it is open to them."""
    require_reviewer(user)
    campaign = get_object_or_404(Campaign, pk=pk, kind=Campaign.Kind.STUDY)
    if not campaign.open_to_all and not campaign.members.filter(user=user).exists():
        raise PermissionDenied(_("You are not a reviewer of this campaign."))
    return campaign


def access_campaigns(user: User) -> QuerySet[Campaign]:
    """Every study, for managers."""
    if not user.has_perm("review.manage_campaigns"):
        raise PermissionDenied(_("Campaigns take the role “manager”."))
    return Campaign.objects.filter(kind=Campaign.Kind.STUDY)


def access_campaign(user: User, pk: int) -> Campaign:
    """A study to manage; what managers see of it tells what blinded reviewers must not know."""
    return get_object_or_404(access_campaigns(user).select_related("batch"), pk=pk)


def access_report(user: User, pk: int) -> Campaign:
    """A study whose report is wanted: for managers alone, since it tells what blinded reviewers must not know."""
    _require_reports(user)
    return get_object_or_404(Campaign, pk=pk, kind=Campaign.Kind.STUDY)


def access_live_report(user: User) -> Campaign:
    """The live queue whose execution figures are wanted: for managers."""
    _require_reports(user)
    return get_object_or_404(Campaign, kind=Campaign.Kind.LIVE)


def access_snapshots(user: User) -> QuerySet[ReportSnapshot]:
    """The reports that were kept, for managers."""
    _require_reports(user)
    return ReportSnapshot.objects.all()


def _require_reports(user: User) -> None:
    if not user.has_perm("review.manage_campaigns"):
        raise PermissionDenied(_("Reports take the role “manager”."))


def access_transfer(user: User, pk: int) -> Transfer:
    """A file on its way in or out of a campaign; for managers, since it holds what reviewers must not know."""
    if not user.has_perm("review.manage_campaigns"):
        raise PermissionDenied(_("Importing and exporting takes the role “manager”."))
    return get_object_or_404(Transfer.objects.select_related("campaign", "by"), pk=pk)
