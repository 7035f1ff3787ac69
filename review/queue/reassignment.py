"""What managers do with items in reviewers' hands: assign one by name, take it over, or send it back.

An item that is sent back keeps its old scores; new ones stand beside them.
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
    """Give an item to a certain reviewer; it waits for them and comes before the queue's own order.

    Raises PermissionDenied for who does not manage campaigns, BadInput for somebody who may not review it,
    NotAllowedNow where it has no place left or they have had it.
    """
    _require_manager(by)
    locked = Item.objects.select_for_update(of=("self",)).select_related("campaign").get(pk=item.pk)
    campaign = locked.campaign
    member = None if campaign.is_live else campaign.members.filter(user=to).first()
    if not to.is_active or not to.has_perm("review.review"):
        raise BadInput(_("This person is no reviewer."), field="to")
    if not campaign.is_live and member is None:
        raise BadInput(_("This person is not a reviewer of this campaign."), field="to")
    if not eligible_items(campaign, to, member, by_name=True).filter(pk=locked.pk).exists():
        raise NotAllowedNow(_("The item has no place left, or this person has dealt with it."))
    assignment = take_slot(locked, to, state=Assignment.State.WAITING, reason=reason)
    record(locked, "assigned", by=by, reviewer=("", to.username))
    return assignment


@transaction.atomic
def take_back(assignment: Assignment, *, by: User, why: str) -> None:
    """Take an item out of a reviewer's hands; its place is free, and what they typed is kept.

    Raises PermissionDenied, BadInput without a reason, NotAllowedNow where it is in their hands no more.
    """
    _require_manager(by)
    if not why.strip() or len(why) > MAX_WHY or "\0" in why:
        raise BadInput(_("Say why, in a few words."), field="why")
    give_back(assignment, state=Assignment.State.RELEASED, why=why)
    record(assignment.item, "taken back", by=by, reviewer=(assignment.reviewer.username, ""))


@transaction.atomic
def take_over(assignment: Assignment, *, to: User, by: User, why: str) -> Assignment:
    """Take an item out of a reviewer's hands and give it to another; what the first one typed is kept.

    Raises PermissionDenied, BadInput without a reason, NotAllowedNow where it is in their hands no more.
    """
    take_back(assignment, by=by, why=why)
    taken = assign(assignment.item, to=to, by=by, reason=Assignment.Reason.TAKE_OVER)
    return taken


@transaction.atomic
def send_back(assignment: Assignment, *, why: str, by: User) -> SentBack:
    """Ask a reviewer to look at a study's item again; it comes first in their next claim.

    Raises PermissionDenied for who does not manage campaigns, BadInput without a reason, NotAllowedNow where
    the reviewer is not through with the item.
    """
    if not by.has_perm("review.manage_campaigns"):
        raise PermissionDenied(_("Sending items back takes the role “manager”."))
    why = why.strip()
    if not why or len(why) > MAX_WHY or "\0" in why:
        raise BadInput(_("Say what to look at again, in a few words."), field="why")
    item = (
        Item.objects.select_for_update(of=("self",))
        .select_related("campaign")
        .get(pk=assignment.item_id)
    )
    if item.campaign.is_live:
        raise NotAllowedNow(_("What was decided in the live queue is not sent back."))
    changed = Assignment.objects.filter(pk=assignment.pk, state=Assignment.State.SUBMITTED).update(
        state=Assignment.State.WAITING, ended_at=None
    )
    if not changed:
        raise NotAllowedNow(_("The reviewer is not through with this item."))
    given = Score.objects.filter(item=item, reviewer=assignment.reviewer_id)
    count_done(item, change=-1 if counts(item, given) else 0)
    sent = SentBack.objects.create(assignment=assignment, by=by, why=why)
    record(item, "sent back", by=by, reviewer=("", assignment.reviewer.username))
    return sent


def mark_answered(assignment: Assignment) -> None:
    """Note that the reviewer has looked again at what was sent back to them."""
    assignment.sent_back.filter(answered_at=None).update(answered_at=timezone.now())


def assignments_of(item: Item) -> QuerySet[Assignment]:
    """Everybody who has the item in hand or had it, the latest first."""
    return item.assignments.select_related("reviewer").order_by("-pk")


def _require_manager(by: User) -> None:
    if not by.has_perm("review.manage_campaigns"):
        raise PermissionDenied(_("Giving items to others takes the role “manager”."))
