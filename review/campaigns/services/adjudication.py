"""List items where reviewers differ, and record adjudications: final scores with their author and reason."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from core.audit import record
from core.errors import BadInput, NotAllowedNow
from pipeline.types import Arm
from review.counting.facts import Facts, read_facts
from review.models import Adjudication, Assignment, Campaign, Item, Score, TallyDue
from review.queue.eligibility import has_adjudicated
from review.queue.reviewer_checks.repeats import made_halo_of
from review.sampling import EVERYBODY
from review.study import Stage, stages_to_settle

MAX_WHY = 4_000


@dataclass(frozen=True)
class Difference:
    """A stage where reviewers of an item differ, with their current scores and the adjudication, if any."""

    stage: str
    arm: str
    scores: tuple[Score, ...]
    adjudication: Adjudication | None


def disputed_items(campaign: Campaign) -> QuerySet[Item]:
    """Return the items that are waiting for an adjudicator, oldest first."""
    return campaign.items.filter(disputed=True).order_by("pk")


def differences(item: Item) -> list[Difference]:
    """Return the stages of an item that need or have an adjudication, in order.

    A stage needs an adjudication if its score is unresolved under either criterion. The same applies to a required
    stage that was not opened for any reviewer. An adjudication applies to all arms that share the text. Each difference
    therefore contains the scores from all of these arms, without copies.
    """
    facts = read_facts([item.pk])
    waits = stages_to_settle(facts.judge(item.pk))
    found = []
    for stage in Stage:
        same = facts.alike(item.pk, stage)
        for arm in Arm:
            items = same if arm is Arm.MODEL else [item.pk]
            word = _word_on(items, stage.value, arm.value)
            if word is None and (stage, arm) not in waits:
                continue
            given = Score.objects.filter(item__in=items, stage=stage.value, arm=arm, current=True)
            scores = given.select_related("reviewer", "draft", "feedback").order_by("pk")
            found.append(Difference(stage.value, arm.value, _without_copies(scores), word))
    return found


def _word_on(items: Sequence[int], stage: str, arm: str) -> Adjudication | None:
    """Return the newest adjudication of the text that these items share, or None."""
    said = Adjudication.objects.filter(item__in=items, stage=stage, arm=arm, current=True)
    return said.select_related("by", "item__case").order_by("-at", "-pk").first()


def _without_copies(scores: Iterable[Score]) -> tuple[Score, ...]:
    found = list(scores)
    own = {one.reviewer_id for one in found if "copied_from" not in one.visible}
    return tuple(
        one for one in found if "copied_from" not in one.visible or one.reviewer_id not in own
    )


@transaction.atomic
def adjudicate(
    item: Item, *, stage: str, value: int, why: str, by: User, arm: str = Arm.MODEL.value
) -> Adjudication:
    """Set the final score for a stage. An earlier adjudication is marked as replaced.

    The score belongs to the text and applies in every arm that has this text. Raises PermissionDenied if the user
    reviewed the item, and BadInput for an invalid value or a missing reason. Raises NotAllowedNow if the stage needs no
    adjudication, or if the text has a different final score in another arm.
    """
    if value not in Score.Value.values:
        raise BadInput(_("The score must be 0, 1 or 2."), field="value")
    why = why.strip()
    if not why or len(why) > MAX_WHY:
        raise BadInput(_("Enter a reason of up to %s characters.") % f"{MAX_WHY:,}", field="why")
    locked = Item.objects.select_for_update(of=("self",)).select_related("campaign").get(pk=item.pk)
    check_adjudicator(locked, by)
    facts = read_facts([locked.pk])
    same = _holders(facts, locked, stage, arm)
    is_scored = Score.objects.filter(item__in=same, stage=stage, arm=arm, current=True).exists()
    if not is_scored and (stage, arm) not in stages_to_settle(facts.judge(locked.pk)):
        raise NotAllowedNow(_("No reviewer has scored this stage."))
    _check_settled_once(locked, same, stage=stage, arm=arm, value=value)
    before = locked.adjudications.filter(stage=stage, arm=arm, current=True).first()
    if before and (before.value, before.why, before.by_id) == (value, why, by.pk):
        return before
    locked.adjudications.filter(stage=stage, arm=arm, current=True).update(current=False)
    word = Adjudication.objects.create(
        item=locked, stage=stage, arm=arm, value=value, why=why, by=by
    )
    TallyDue.objects.bulk_create(
        TallyDue(item_id=key, campaign=locked.campaign) for key in sorted({*same, locked.pk})
    )
    record(locked, "adjudicated", by=by, **{stage: (before.value if before else "", value)})
    return word


def _holders(facts: Facts, item: Item, stage: str, arm: str) -> list[int]:
    """Return the items that share the text. A text in the experts' arm belongs to a single item."""
    if arm != Arm.MODEL or stage not in Score.Stage.values:
        return [item.pk]
    return facts.alike(item.pk, Stage(stage))


def _check_settled_once(
    item: Item, same: Sequence[int], *, stage: str, arm: str, value: int
) -> None:
    elsewhere = [key for key in same if key != item.pk]
    word = _word_on(elsewhere, stage, arm) if elsewhere else None
    if word is not None and word.value != value:
        raise NotAllowedNow(
            _(
                "The same text has the final score %s under another configuration. A text can have only "
                "one final score, so change it there."
            )
            % word.value
        )


def check_adjudicator(item: Item, by: User) -> None:
    """Raise PermissionDenied if the user may not adjudicate the item.

    A user may not adjudicate an item if they wrote or scored one of its texts, in any arm or in a halo check.
    """
    if not by.has_perm("review.manage_campaigns"):
        raise PermissionDenied(_("Adjudicating requires the Manager role."))
    arms = Score.objects.filter(item__case=item.case_id, reviewer=by, current=True)
    rated = arms.exists() and not {
        one for stage in Stage for one in read_facts([item.pk]).alike(item.pk, stage)
    }.isdisjoint(arms.values_list("item", flat=True))
    # A halo check is an item of a different case, but its reviewer has scored this item's refined script.
    rated = rated or made_halo_of(item, by)
    wrote = item.run is not None and (
        item.run.drafts.filter(author=by).exists()
        or item.run.drafts.filter(feedbacks__author=by).exists()
    )
    if rated or wrote:
        raise PermissionDenied(
            _("You can't adjudicate an item if you scored it or wrote a script or feedback for it.")
        )


@transaction.atomic
def call_in(item: Item, reviewer: User, *, by: User) -> Assignment:
    """Assign one more reviewer to break a tie. Agreement figures exclude the added reviewer's score.

    The score belongs to the text, so every arm with this script waits for this reviewer. Raises NotAllowedNow if the
    reviewer already has, scored or adjudicated the same text, or if the item can't have an extra reviewer.
    """
    locked = Item.objects.select_for_update(of=("self",)).select_related("campaign").get(pk=item.pk)
    if locked.overlap == EVERYBODY or locked.again or locked.campaign.is_live:
        raise NotAllowedNow(_("This item can't have an extra reviewer."))
    if locked.assignments.filter(reviewer=reviewer, state__in=Assignment.HOLDING).exists():
        raise NotAllowedNow(_("This item is already assigned to this reviewer."))
    if made_halo_of(locked, reviewer):
        raise NotAllowedNow(
            _(
                "Choose another reviewer. This reviewer has scored the refined script as a halo check."
            )
        )
    if has_adjudicated(locked, reviewer):
        raise NotAllowedNow(
            _("Choose another reviewer. This reviewer has adjudicated this script.")
        )
    same = read_facts([locked.pk]).alike(locked.pk, Stage.SCRIPT)
    called_in = Assignment.objects.filter(
        item__in=same, reviewer=reviewer, reason=Assignment.Reason.TIE_BREAK
    )
    if called_in.filter(state__in=Assignment.HOLDING).exists():
        raise NotAllowedNow(
            _("This reviewer has already been added for the same script in another configuration.")
        )
    Item.objects.filter(pk=locked.pk).update(
        overlap=locked.overlap + 1,
        called_in=locked.called_in + 1,
        state=Item.State.OPEN,
        closed_at=None,
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
