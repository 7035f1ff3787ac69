"""Sending an item back to its reviewer with a reason: old scores are kept, new ones stand beside them."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils.translation import gettext as _

from core.audit import record
from core.errors import BadInput, NotAllowedNow
from review.blinding.item_view import open_desk
from review.campaigns.services.rules import count_done
from review.desk.scoring import finish, holding
from review.models import Assignment, Item, SentBack
from review.queue.claims import answer_sent_back

MAX_WHY = 2_000


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
    count_done(item, change=-1)
    sent = SentBack.objects.create(assignment=assignment, by=by, why=why)
    record(item, "sent back", by=by, reviewer=("", assignment.reviewer.username))
    return sent


@transaction.atomic
def answer(item: Item, *, by: User) -> None:
    """The reviewer has looked again, and their scores stay, or were changed. Raises NotAllowedNow."""
    locked = (
        Item.objects.select_for_update(of=("self",))
        .select_related("campaign", "case", "run__action")
        .get(pk=item.pk)
    )
    desk = open_desk(locked, by)
    assignment = holding(desk)
    if desk.sent_back is None:
        raise NotAllowedNow(_("This item was not sent back to you."))
    if desk.next_step is not None:
        raise NotAllowedNow(_("Something is left to score first."))
    finish(desk, assignment)
    answer_sent_back(assignment)
