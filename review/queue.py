"""Who works on what: claims, leases, releases. An item is never given to more reviewers than it wants."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from catalog.types import BadInput, NotAllowedNow, Stale
from pipeline.models import Draft, Feedback, Run
from review import studies
from review.models import Assignment, Campaign, Case, Flag, Item, Member, Scratch
from review.order import first_in_order

MAX_SCRATCH_BYTES = 1_200_000
# Without a score for this long, a new sitting begins.
SITTING_GAP = timedelta(minutes=30)


def claim_next(campaign: Campaign, *, by: User) -> Assignment | None:
    """The person's next item: what they hold already, what came back to them, else the first in their order.

    None where nothing waits for this person. Raises NotAllowedNow where the campaign is not open, or the
    person is paused or through with their share.
    """
    _check_open(campaign)
    with transaction.atomic():
        held = _held(campaign, by)
        if held is not None:
            return _renew(held)
        member = None if campaign.is_live else _member(campaign, by)
        waiting = _open_to(campaign, by, member)
        item = first_in_order(waiting, campaign, member)
        return _take(item, by) if item else None


@transaction.atomic
def claim_item(item: Item, *, by: User) -> Assignment:
    """Take one certain item; raises NotAllowedNow where it has no place left for this person."""
    locked = Item.objects.select_for_update().select_related("campaign").get(pk=item.pk)
    mine = locked.assignments.filter(
        reviewer=by, state__in=[Assignment.State.ACTIVE, Assignment.State.WAITING]
    ).first()
    if mine is not None:
        return _renew(mine)
    _check_open(locked.campaign)
    member = None if locked.campaign.is_live else _member(locked.campaign, by)
    if not _open_to(locked.campaign, by, member).filter(pk=locked.pk).exists():
        raise NotAllowedNow(_("Somebody else has this item, or you have dealt with it already."))
    return _take(locked, by)


def waiting_for(campaign: Campaign, by: User) -> QuerySet[Item]:
    """The items this person could take now."""
    member = None if campaign.is_live else campaign.members.filter(user=by).first()
    return _open_to(campaign, by, member)


@transaction.atomic
def keep_alive(assignment: Assignment, *, fence: int) -> None:
    """A sign of life from the reviewer's page; raises NotAllowedNow where the lease is no longer theirs."""
    changed = Assignment.objects.filter(
        pk=assignment.pk, state=Assignment.State.ACTIVE, fence=fence
    ).update(lease_until=lease_end())
    if not changed:
        raise NotAllowedNow(_("This item is no longer yours, or is open in another tab."))


@transaction.atomic
def give_back(assignment: Assignment, *, state: Assignment.State, why: str = "") -> None:
    """Let go of an item without a result: released, skipped or not to be judged; its place is free again.

    Skipped and not-to-be-judged items go to somebody else, and need a reason.
    """
    if state in (Assignment.State.SKIPPED, Assignment.State.CANNOT_JUDGE) and not why.strip():
        raise BadInput(_("Say why, in a few words."), field="why")
    changed = Assignment.objects.filter(
        pk=assignment.pk, state__in=[Assignment.State.ACTIVE, Assignment.State.WAITING]
    ).update(state=state, ended_at=timezone.now(), lease_until=None, why=why.strip()[:2_000])
    if not changed:
        raise NotAllowedNow(_("This item is no longer yours."))
    Item.objects.filter(pk=assignment.item_id).update(places=F("places") + 1)


@transaction.atomic
def flag(assignment: Assignment, *, reason: str, by: User) -> Flag:
    """Tell the managers that something is wrong with the item itself."""
    if not reason.strip():
        raise BadInput(_("Say what is wrong with it."), field="reason")
    return Flag.objects.create(item=assignment.item, by=by, reason=reason.strip()[:2_000])


def expire_leases() -> int:
    """Take items back from reviewers who gave no sign of life; what they typed is kept for their return."""
    expired = 0
    overdue = Assignment.objects.filter(
        state=Assignment.State.ACTIVE, lease_until__lt=timezone.now()
    ).values_list("pk", "item_id")[:500]
    for pk, item_id in overdue:
        with transaction.atomic():
            changed = Assignment.objects.filter(
                pk=pk, state=Assignment.State.ACTIVE, lease_until__lt=timezone.now()
            ).update(state=Assignment.State.EXPIRED, ended_at=timezone.now(), lease_until=None)
            if changed:
                Item.objects.filter(pk=item_id).update(places=F("places") + 1)
                expired += 1
    return expired


@transaction.atomic
def save_scratch(item: Item, *, by: User, fields: dict[str, object], revision: int) -> Scratch:
    """Keep what was typed. Raises Stale where another tab has saved since; its text is the one kept."""
    if sum(len(str(value)) for value in fields.values()) > MAX_SCRATCH_BYTES:
        raise BadInput(_("This is too long to be kept."))
    scratch, _created = Scratch.objects.select_for_update().get_or_create(item=item, reviewer=by)
    if scratch.revision != revision:
        raise Stale(_("Another tab has saved something newer."), newest=scratch.revision)
    scratch.fields = {**scratch.fields, **fields}
    scratch.revision += 1
    scratch.saved_at = timezone.now()
    scratch.save(update_fields=["fields", "revision", "saved_at"])
    return scratch


def _check_open(campaign: Campaign) -> None:
    if campaign.state not in (Campaign.State.OPEN, Campaign.State.PILOT):
        raise NotAllowedNow(_("This campaign is not open for reviews."))


def _member(campaign: Campaign, by: User) -> Member:
    """The person's place in a study; made at their first claim where it is open to every reviewer."""
    member = campaign.members.filter(user=by).first()
    if member is None and campaign.open_to_all:
        member = studies.add_member(campaign, by, by=by)
    if member is None:
        raise NotAllowedNow(_("You are not a reviewer of this campaign."))
    if member.paused_at is not None:
        raise NotAllowedNow(_("A manager has paused your work on this campaign."))
    limit = member.limit or campaign.limit_each
    if limit and _count_done(campaign, by) >= limit:
        raise NotAllowedNow(_("You have done the %s items asked of you. Thank you.") % limit)
    return member


def _count_done(campaign: Campaign, by: User) -> int:
    return Assignment.objects.filter(
        item__campaign=campaign,
        reviewer=by,
        state__in=Assignment.HOLDING,
        item__case__purpose=Case.Purpose.REAL,
    ).count()


def _open_to(campaign: Campaign, by: User, member: Member | None) -> QuerySet[Item]:
    """Waiting items of a campaign that this person has not dealt with, and has no hand in."""
    dealt_with = Assignment.objects.filter(item=OuterRef("pk"), reviewer=by).exclude(
        state__in=[Assignment.State.RELEASED, Assignment.State.EXPIRED]
    )
    wrote = Draft.objects.filter(run=OuterRef("run"), author=by)
    explained = Feedback.objects.filter(draft__run=OuterRef("run"), author=by)
    waiting = (
        Item.objects.waiting()
        .filter(campaign=campaign)
        .exclude(Exists(dealt_with))
        .exclude(Exists(wrote))
        .exclude(Exists(explained))
    )
    if campaign.is_live:
        return waiting
    if member is None or member.paused_at is not None:
        return waiting.none()
    # Arms of one statement are never scored in one sitting: the second would be scored by the first.
    other_arm = Assignment.objects.filter(
        item__case=OuterRef("case"),
        reviewer=by,
        state__in=Assignment.HOLDING,
        created_at__gt=timezone.now() - SITTING_GAP,
    )
    waiting = waiting.exclude(Exists(other_arm))
    training = campaign.cases.filter(purpose=Case.Purpose.TRAINING)
    if member.trained_at is None and training.exists():
        return waiting.filter(case__purpose=Case.Purpose.TRAINING)
    return waiting


def _held(campaign: Campaign, by: User) -> Assignment | None:
    mine = Assignment.objects.select_for_update(of=("self",)).filter(
        item__campaign=campaign, reviewer=by
    )
    active = mine.filter(state=Assignment.State.ACTIVE).first()
    if active:
        return active
    return (
        mine.filter(state=Assignment.State.WAITING)
        .exclude(item__run__state__in=[Run.State.QUEUED, Run.State.RUNNING])
        .order_by("pk")
        .first()
    )


def _renew(assignment: Assignment) -> Assignment:
    assignment.state = Assignment.State.ACTIVE
    assignment.lease_until = lease_end()
    assignment.save(update_fields=["state", "lease_until"])
    return assignment


def _take(item: Item, by: User) -> Assignment:
    # The constraint on places is the last word; the row lock only spares us from asking it.
    Item.objects.filter(pk=item.pk).update(places=F("places") - 1)
    return Assignment.objects.create(
        item=item,
        reviewer=by,
        lease_until=lease_end(),
        position=Assignment.objects.filter(item__campaign=item.campaign_id, reviewer=by).count()
        + 1,
    )


def answer_sent_back(assignment: Assignment) -> None:
    """What was sent back has been looked at again."""
    assignment.sent_back.filter(answered_at=None).update(answered_at=timezone.now())


def lease_end() -> datetime:
    """When a lease taken or renewed now runs out."""
    return timezone.now() + timedelta(minutes=settings.SCRIPTSMITH_REVIEW_LEASE_MINUTES)
