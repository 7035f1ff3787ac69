"""Managers' actions on assignments: assign an item by name, reassign it, or send it back.

The old scores of an item that is sent back are preserved.
"""

from __future__ import annotations

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from core.audit import record
from core.errors import BadInput, NotAllowedNow
from review.counting.completion import count_done, counts
from review.models import Assignment, Item, Score, SentBack
from review.queue.claims import give_back
from review.queue.eligibility import eligible_items
from review.queue.slots import take_slot

MAX_WHY = 2_000


@transaction.atomic
def assign(item: Item, *, to: User, by: User, reason: str = Assignment.Reason.NAMED) -> Assignment:
    """Assign an item to a named reviewer. The item becomes the first in the reviewer's queue.

    Raises PermissionDenied if `by` does not manage campaigns, BadInput if `to` may not review the item, and
    NotAllowedNow if the item has no free slot or `to` has already handled it.
    """
    _require_manager(by)
    locked = Item.objects.select_for_update(of=("self",)).select_related("campaign").get(pk=item.pk)
    campaign = locked.campaign
    member = None if campaign.is_live else campaign.members.filter(user=to).first()
    if not to.is_active or not to.has_perm("review.review"):
        raise BadInput(_("This user is not a reviewer."), field="to")
    if not campaign.is_live and member is None:
        raise BadInput(_("This user is not a reviewer in this study."), field="to")
    if not eligible_items(campaign, to, member, by_name=True).filter(pk=locked.pk).exists():
        raise NotAllowedNow(
            _("The item already has all its reviewers, or this reviewer has already finished it.")
        )
    assignment = take_slot(locked, to, state=Assignment.State.WAITING, reason=reason)
    record(locked, "assigned", by=by, reviewer=("", to.username))
    return assignment


@transaction.atomic
def take_back(assignment: Assignment, *, by: User, why: str) -> None:
    """Unassign an item and free its slot. The reviewer's autosaved text is preserved.

    Raises PermissionDenied, BadInput without a reason, and NotAllowedNow if the assignment has already ended.
    """
    _require_manager(by)
    if not why.strip() or len(why) > MAX_WHY or "\0" in why:
        raise BadInput(_("Enter a short reason."), field="why")
    give_back(assignment, state=Assignment.State.RELEASED, why=why)
    record(assignment.item, "taken back", by=by, reviewer=(assignment.reviewer.username, ""))


@transaction.atomic
def take_over(assignment: Assignment, *, to: User, by: User, why: str) -> Assignment:
    """Reassign an item to another reviewer. The first reviewer's autosaved text is preserved.

    Raises PermissionDenied, BadInput without a reason, and NotAllowedNow if the assignment has already ended.
    """
    take_back(assignment, by=by, why=why)
    taken = assign(assignment.item, to=to, by=by, reason=Assignment.Reason.TAKE_OVER)
    return taken


@transaction.atomic
def send_back(assignment: Assignment, *, why: str, by: User) -> SentBack:
    """Ask a reviewer to check an item of a study again. The reviewer's next claim returns this item.

    Raises PermissionDenied if the user does not manage campaigns, BadInput without a reason, and NotAllowedNow if the
    reviewer has not finished the item.
    """
    if not by.has_perm("review.manage_campaigns"):
        raise PermissionDenied(_("Sending items back requires the Manager role."))
    why = why.strip()
    if not why or len(why) > MAX_WHY or "\0" in why:
        raise BadInput(_("Describe briefly what to review again."), field="why")
    item = (
        Item.objects.select_for_update(of=("self",))
        .select_related("campaign")
        .get(pk=assignment.item_id)
    )
    if item.campaign.is_live:
        raise NotAllowedNow(_("Items in the review queue can't be sent back after the decision."))
    changed = Assignment.objects.filter(pk=assignment.pk, state=Assignment.State.SUBMITTED).update(
        state=Assignment.State.WAITING, ended_at=None
    )
    if not changed:
        raise NotAllowedNow(_("The reviewer has not finished this item."))
    given = Score.objects.filter(item=item, reviewer=assignment.reviewer_id)
    count_done(item, change=-1 if counts(item, given) else 0)
    sent = SentBack.objects.create(assignment=assignment, by=by, why=why)
    record(item, "sent back", by=by, reviewer=("", assignment.reviewer.username))
    return sent


def mark_answered(assignment: Assignment) -> None:
    """Mark the requests to check this item again as answered."""
    assignment.sent_back.filter(answered_at=None).update(answered_at=timezone.now())


def assignments_of(item: Item) -> QuerySet[Assignment]:
    """Return all assignments of the item, newest first."""
    return item.assignments.select_related("reviewer").order_by("-pk")


def _require_manager(by: User) -> None:
    if not by.has_perm("review.manage_campaigns"):
        raise PermissionDenied(_("Assigning items requires the Manager role."))
