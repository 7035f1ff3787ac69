"""Who works on what: claims and releases. An item is never given to more reviewers than it wants."""

from __future__ import annotations

from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Case as Choice
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Value, When
from django.utils import timezone
from django.utils.translation import gettext as _

from catalog.types import BadInput, NotAllowedNow
from pipeline.models import Draft, Feedback, Run
from review import studies
from review.copies import copy_known_scores
from review.leases import lease_end
from review.models import Assignment, Campaign, Case, Flag, Item, Member, SentBack
from review.order import first_in_order

# Without a score for this long, a new sitting begins.
SITTING_GAP = timedelta(minutes=30)


def claim_next(campaign: Campaign, *, by: User) -> Assignment | None:
    """The person's next item: what they hold already, what was sent back or came back to them or was assigned
    to them by name, else the first in their order.

    None where nothing waits for this person. Raises NotAllowedNow where the campaign is not open, or the
    person is paused or through with their share.
    """
    _check_open(campaign)
    with transaction.atomic():
        held = _held(campaign, by)
        if held is not None:
            return _renew(held)
        member = None if campaign.is_live else _member(campaign, by)
        waiting = open_to(campaign, by, member)
        while item := first_in_order(waiting, campaign, member):
            assignment = take(item, by)
            # What they have scored in another arm already is not shown a second time.
            if campaign.is_live or not copy_known_scores(assignment):
                return assignment
        return None


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
    if not open_to(locked.campaign, by, member).filter(pk=locked.pk).exists():
        raise NotAllowedNow(_("Somebody else has this item, or you have dealt with it already."))
    return take(locked, by)


def waiting_for(campaign: Campaign, by: User) -> QuerySet[Item]:
    """The items this person could take now."""
    member = None if campaign.is_live else campaign.members.filter(user=by).first()
    return open_to(campaign, by, member)


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
        raise BadInput(_("Say what is wrong with it."), field="flag")
    return Flag.objects.create(item=assignment.item, by=by, reason=reason.strip()[:2_000])


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


def open_to(
    campaign: Campaign,
    by: User,
    member: Member | None,
    *,
    has_training: bool | None = None,
    by_name: bool = False,
) -> QuerySet[Item]:
    """Waiting items of a campaign that this person has not dealt with, and has no hand in.

    `has_training` spares a query where it is known whether the campaign begins with a training round. What a
    manager assigns by name need not keep the order of trainings and sittings.
    """
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
    if campaign.is_live or by_name:
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
    if member.trained_at is not None:
        return waiting
    if has_training is None:
        has_training = campaign.cases.filter(purpose=Case.Purpose.TRAINING).exists()
    if has_training:
        return waiting.filter(case__purpose=Case.Purpose.TRAINING)
    return waiting


def _held(campaign: Campaign, by: User) -> Assignment | None:
    """What the person has begun, else what was sent back to them, else what waits for them and is ready."""
    is_active = Q(state=Assignment.State.ACTIVE)
    is_ready = Q(state=Assignment.State.WAITING) & ~Q(
        item__run__state__in=[Run.State.QUEUED, Run.State.RUNNING]
    )
    sent_back = SentBack.objects.filter(assignment=OuterRef("pk"), answered_at=None)
    return (
        Assignment.objects.select_for_update(of=("self",))
        .filter(is_active | is_ready, item__campaign=campaign, reviewer=by)
        .order_by(
            Choice(
                When(is_active, then=Value(0)), When(Exists(sent_back), then=Value(1)), default=2
            ),
            "pk",
        )
        .first()
    )


def _renew(assignment: Assignment) -> Assignment:
    """Back in the person's hands; a tab that has the item open already is the older one from now on."""
    assignment.state = Assignment.State.ACTIVE
    assignment.lease_until = lease_end()
    assignment.fence += 1
    assignment.save(update_fields=["state", "lease_until", "fence"])
    return assignment


def take(
    item: Item,
    by: User,
    *,
    state: str = Assignment.State.ACTIVE,
    reason: str = Assignment.Reason.QUEUE,
) -> Assignment:
    """Take one of the item's places for this person. The row is locked, or the database refuses less than none."""
    # The constraint on places is the last word; the row lock only spares us from asking it.
    Item.objects.filter(pk=item.pk).update(places=F("places") - 1)
    return Assignment.objects.create(
        item=item,
        reviewer=by,
        state=state,
        reason=reason,
        lease_until=lease_end() if state == Assignment.State.ACTIVE else None,
        position=Assignment.objects.filter(item__campaign=item.campaign_id, reviewer=by).count()
        + 1,
    )


def earlier_item(item: Item, *, by: User) -> int | None:
    """The key of the item that this person was through with before this one, in the same campaign."""
    done = Assignment.objects.filter(
        item__campaign=item.campaign_id, reviewer=by, state=Assignment.State.SUBMITTED
    ).order_by("-ended_at", "-pk")
    this = done.filter(item=item).first()
    if this is not None:
        done = done.filter(ended_at__lt=this.ended_at)
    return done.values_list("item_id", flat=True).first()


def answer_sent_back(assignment: Assignment) -> None:
    """What was sent back has been looked at again."""
    assignment.sent_back.filter(answered_at=None).update(answered_at=timezone.now())
