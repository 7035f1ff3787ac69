"""Sending an item back to its reviewer with a reason: old scores are kept, new ones stand beside them."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from core.audit import record
from core.errors import BadInput, NotAllowedNow
from review.counting.completion import count_done
from review.models import Assignment, Item, SentBack

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


def mark_answered(assignment: Assignment) -> None:
    """Note that the reviewer has looked again at what was sent back to them."""
    assignment.sent_back.filter(answered_at=None).update(answered_at=timezone.now())
