"""Adjudication: lists items on which reviewers differ, and records the final score, with who and why."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from core.audit import record
from core.errors import BadInput, NotAllowedNow
from pipeline.types import Arm
from review.models import Adjudication, Assignment, Campaign, Item, Score, TallyDue
from review.queue.reviewer_checks.repeats import made_halo_of
from review.sampling import EVERYBODY

MAX_WHY = 4_000


@dataclass(frozen=True)
class Difference:
    """One stage of an item on which its reviewers differ: their current scores, and the word on it if there is one."""

    stage: str
    arm: str
    scores: tuple[Score, ...]
    adjudication: Adjudication | None


def disputed_items(campaign: Campaign) -> QuerySet[Item]:
    """Items that wait for an adjudicator, in the order in which they were made."""
    return campaign.items.filter(disputed=True).order_by("pk")


def differences(item: Item) -> list[Difference]:
    """The stages of an item that two reviewers scored differently, in the order of the stages."""
    current = list(item.scores.filter(current=True).select_related("reviewer", "draft", "feedback"))
    words = {(one.stage, one.arm): one for one in item.adjudications.filter(current=True)}
    found = []
    for stage in Score.Stage.values:
        for arm in (Arm.MODEL.value, Arm.EXPERT.value):
            given = tuple(one for one in current if (one.stage, one.arm) == (stage, arm))
            if len({one.value for one in given}) > 1 or (stage, arm) in words:
                found.append(Difference(stage, arm, given, words.get((stage, arm))))
    return found


@transaction.atomic
def adjudicate(
    item: Item, *, stage: str, value: int, why: str, by: User, arm: str = Arm.MODEL.value
) -> Adjudication:
    """Set the final score of a stage; a later one takes its place, and the earlier is kept.

    Raises PermissionDenied for one of the item's own raters, BadInput for a value that is none or without a
    reason, NotAllowedNow where nothing was scored.
    """
    if value not in Score.Value.values:
        raise BadInput(_("A score is 0, 1 or 2."), field="value")
    why = why.strip()
    if not why or len(why) > MAX_WHY:
        raise BadInput(_("Say why, in at most %s characters.") % f"{MAX_WHY:,}", field="why")
    locked = Item.objects.select_for_update(of=("self",)).select_related("campaign").get(pk=item.pk)
    check_adjudicator(locked, by)
    if not locked.scores.filter(stage=stage, arm=arm, current=True).exists():
        raise NotAllowedNow(_("Nobody has scored this stage."))
    before = locked.adjudications.filter(stage=stage, arm=arm, current=True).first()
    if before and (before.value, before.why, before.by_id) == (value, why, by.pk):
        return before
    locked.adjudications.filter(stage=stage, arm=arm, current=True).update(current=False)
    word = Adjudication.objects.create(
        item=locked, stage=stage, arm=arm, value=value, why=why, by=by
    )
    TallyDue.objects.create(item=locked, campaign=locked.campaign)
    record(locked, "adjudicated", by=by, **{stage: (before.value if before else "", value)})
    return word


def check_adjudicator(item: Item, by: User) -> None:
    """Raises PermissionDenied where this person may not settle what others said of the item."""
    if not by.has_perm("review.manage_campaigns"):
        raise PermissionDenied(_("Adjudicating takes the role “manager”."))
    rated = item.scores.filter(reviewer=by, current=True).exists()
    wrote = item.run is not None and (
        item.run.drafts.filter(author=by).exists()
        or item.run.drafts.filter(feedbacks__author=by).exists()
    )
    if rated or wrote:
        raise PermissionDenied(_("Whoever scored an item, or wrote for it, can't adjudicate it."))


@transaction.atomic
def call_in(item: Item, reviewer: User, *, by: User) -> Assignment:
    """Ask one reviewer more because the others differ; their score is left out of the agreement.

    Raises NotAllowedNow where that person has it already, or the item is for everybody.
    """
    locked = Item.objects.select_for_update(of=("self",)).select_related("campaign").get(pk=item.pk)
    if locked.overlap == EVERYBODY or locked.again or locked.campaign.is_live:
        raise NotAllowedNow(_("No further reviewer can be asked for this item."))
    if locked.assignments.filter(reviewer=reviewer, state__in=Assignment.HOLDING).exists():
        raise NotAllowedNow(_("This person has the item already."))
    if made_halo_of(locked, reviewer):
        raise NotAllowedNow(_("This person has scored its refined script as a halo check."))
    Item.objects.filter(pk=locked.pk).update(
        overlap=locked.overlap + 1, state=Item.State.OPEN, closed_at=None
    )
    called = Assignment.objects.create(
        item=locked,
        reviewer=reviewer,
        state=Assignment.State.WAITING,
        reason=Assignment.Reason.TIE_BREAK,
    )
    TallyDue.objects.create(item=locked, campaign=locked.campaign)
    record(locked, "called in", by=by, reviewer=("", reviewer.username))
    return called
