"""Claims and releases of items. An item is never assigned to more reviewers than it needs."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from core.database.advisory_lock import one_at_a_time
from core.database.clock import database_now
from core.errors import BadInput, NotAllowedNow
from review.blinding.item_queries import lock_held, read_member
from review.counting.completion import note_changed
from review.models import Assignment, Campaign, Case, Flag, Item, Member
from review.queue.assignment_leases import lease_end, lock_item_row
from review.queue.copied_scores import copy_known_scores
from review.queue.eligibility import candidates_for, eligible_items
from review.queue.eligible_counts import count_eligible
from review.queue.members import add_member
from review.queue.reviewer_order import take_first
from review.queue.slots import take_slot


def claim_next(campaign: Campaign, *, by: User) -> Assignment | None:
    """Claim the reviewer's next item. Items that are claimed, sent back or assigned by name come first.

    Returns None if no item is waiting. Raises NotAllowedNow if the campaign is not open, or if the reviewer is paused
    or has reached their limit.
    """
    # Without the lock, two concurrent requests would both find no claimed item and claim two items.
    with one_at_a_time("claim", campaign.pk, by.pk):
        return claim_following(campaign, by=by)


def claim_following(campaign: Campaign, *, by: User) -> Assignment | None:
    """Claim the next item after a score or decision. Reviewers submit these one at a time, so no lock is needed."""
    _check_open(campaign)
    place = None if campaign.is_live else next(iter(read_member(campaign.pk, by.pk)), None)
    if place is None or place.holds:  # type: ignore[attr-defined]
        while held := _resume_held(campaign, by):
            # An item assigned by name may contain a script that the reviewer has scored in another arm.
            is_given = not campaign.is_live and held.reason != Assignment.Reason.QUEUE
            if not (is_given and copy_known_scores(held)):
                return held
    member = None if campaign.is_live else _admit(place, campaign, by)
    while assignment := _take_first(campaign, by, member):
        # Do not show an item that the reviewer has already scored completely in another arm.
        if campaign.is_live or not copy_known_scores(assignment):
            assignment.has_loose = getattr(place, "has_loose", True)  # type: ignore[attr-defined]
            return assignment
    return None


@transaction.atomic
def _resume_held(campaign: Campaign, by: User) -> Assignment | None:
    held = next(iter(lock_held(campaign.pk, by.pk)), None)
    return _renew(held) if held else None


def _take_first(campaign: Campaign, by: User, member: Member | None) -> Assignment | None:
    taken = (take_first(some) for some in candidates_for(campaign, by, member))
    return next((one for one in taken if one is not None), None)


@transaction.atomic
def claim_item(item: Item, *, by: User) -> Assignment:
    """Claim a specific item. Raises NotAllowedNow if the item has no place for this reviewer."""
    locked = Item.objects.select_for_update().select_related("campaign").get(pk=item.pk)
    mine = locked.assignments.filter(
        reviewer=by, state__in=[Assignment.State.ACTIVE, Assignment.State.WAITING]
    ).first()
    if mine is not None:
        return _renew(mine)
    _check_open(locked.campaign)
    member = None
    if not locked.campaign.is_live:
        member = _admit(locked.campaign.members.filter(user=by).first(), locked.campaign, by)
    if not eligible_items(locked.campaign, by, member).filter(pk=locked.pk).exists():
        raise NotAllowedNow(
            _("This item is assigned to another reviewer, or you have already finished it.")
        )
    return take_slot(locked, by)


def waiting_for(campaign: Campaign, by: User) -> QuerySet[Item]:
    """Return the items that this reviewer could claim now."""
    return eligible_items(campaign, by, _member(campaign, by))


def count_waiting_for(campaign: Campaign, by: User, *, most: int | None = None) -> int:
    """Return the number of items that this reviewer could claim now, counted up to `most`."""
    counts = count_eligible({campaign: _member(campaign, by)}, by, most=most)
    return counts.get(campaign.pk, 0)


def _member(campaign: Campaign, by: User) -> Member | None:
    return None if campaign.is_live else campaign.members.filter(user=by).first()


@transaction.atomic
def give_back(assignment: Assignment, *, state: Assignment.State, why: str = "") -> None:
    """End an assignment without a result (released, skipped or can't judge) and free its place.

    Skipped and can't-judge assignments need a reason. The item then goes to another reviewer.
    """
    if state in (Assignment.State.SKIPPED, Assignment.State.CANNOT_JUDGE) and not why.strip():
        raise BadInput(_("Enter a short reason."), field="why")
    lock_item_row(assignment.item_id)
    changed = Assignment.objects.filter(
        pk=assignment.pk, state__in=[Assignment.State.ACTIVE, Assignment.State.WAITING]
    ).update(state=state, ended_at=database_now(), lease_until=None, why=why.strip()[:2_000])
    if not changed:
        raise NotAllowedNow(_("This item is no longer assigned to you."))
    Item.objects.filter(pk=assignment.item_id).update(places=F("places") + 1)
    note_changed(assignment.item_id, assignment.item.campaign_id)


@transaction.atomic
def flag(assignment: Assignment, *, reason: str, by: User) -> Flag:
    """Report to the managers that the item itself has a problem."""
    if not reason.strip():
        raise BadInput(_("Describe what is wrong with the item."), field="flag")
    return Flag.objects.create(item=assignment.item, by=by, reason=reason.strip()[:2_000])


def _check_open(campaign: Campaign) -> None:
    if campaign.state not in (Campaign.State.OPEN, Campaign.State.PILOT):
        raise NotAllowedNow(_("This study is not open for review."))


def _admit(member: Member | None, campaign: Campaign, by: User) -> Member:
    """Return the reviewer's membership in a study. If the study is open to every reviewer, create the membership.

    Raises NotAllowedNow if the reviewer is not a member, is paused, or has reached the limit.
    """
    if member is None and campaign.open_to_all:
        member = add_member(campaign, by, by=by)
    if member is None:
        raise NotAllowedNow(_("You are not a reviewer in this study."))
    if member.paused_at is not None:
        raise NotAllowedNow(_("A manager has paused your work on this study."))
    limit = member.limit or campaign.limit_each
    if limit and _count_done(campaign, by) >= limit:
        raise NotAllowedNow(
            ngettext(
                "You have reviewed your %s item. Thank you.",
                "You have reviewed all %s of your items. Thank you.",
                limit,
            )
            % limit
        )
    return member


def _count_done(campaign: Campaign, by: User) -> int:
    done = Assignment.objects.filter(
        item__campaign=campaign, reviewer=by, state__in=Assignment.HOLDING
    )
    # Include gold items and repeats, because an unchanged count would reveal them.
    return done.exclude(item__case__purpose=Case.Purpose.TRAINING).count()


def _renew(assignment: Assignment) -> Assignment:
    """Renew the reviewer's lease. The new fence invalidates tabs that already show the item."""
    assignment.state = Assignment.State.ACTIVE
    assignment.lease_until = lease_end()
    assignment.fence += 1
    assignment.save(update_fields=["state", "lease_until", "fence"])
    return assignment


def earlier_item(item: Item, *, by: User) -> int | None:
    """Return the key of the item in the same campaign that the reviewer finished just before this item."""
    done = Assignment.objects.filter(
        item__campaign=item.campaign_id, reviewer=by, state=Assignment.State.SUBMITTED
    ).order_by("-ended_at", "-pk")
    this = done.filter(item=item).first()
    if this is not None:
        done = done.filter(ended_at__lt=this.ended_at)
    return done.values_list("item_id", flat=True).first()
