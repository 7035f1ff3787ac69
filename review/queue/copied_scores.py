"""Copy scores between arms. A script that two arms of a statement share is scored once and counts in both arms."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import transaction
from django.db.models import F

from core.database.clock import database_now
from pipeline.models import Draft
from review.blinding.exposure import has_seen
from review.blinding.item_queries import read_scores_of_case
from review.blinding.item_view import ItemView, Step, open_item
from review.counting.completion import count_done, counts, hand_on
from review.models import Assignment, Item, Score
from review.queue.assignment_leases import lock_item_row


def copy_to_same_scripts(desk: ItemView) -> None:
    """Copy a finished item's scores to the statement's other arms that contain no other scripts or feedback.

    The copies complete an arm that has a free place. `copy_known_scores` handles arms with more to score.
    """
    for item in _same_first_script(desk):
        other = open_item(item, desk.reviewer, reads_all=True)
        copied = _scores_to_copy(desk, other)
        if copied is None or not _take_place(item):
            continue
        now = database_now()
        assignment = Assignment.objects.create(
            item=item,
            reviewer=desk.reviewer,
            state=Assignment.State.SUBMITTED,
            position=desk.assignment.position if desk.assignment else 0,
            ended_at=now,
        )
        for score in copied:
            score.assignment = assignment
        Score.objects.bulk_create(copied)
        _count(item, copied, change=1)


def copy_known_scores(assignment: Assignment) -> bool:
    """Copy the reviewer's score of the same script in another arm to a newly claimed item.

    Returns True if the copied score completes the item.
    """
    # The prepared query for the next item already reports whether the case has other items.
    if not getattr(assignment.item, "has_arms", True):
        return False
    earlier = read_scores_of_case(
        assignment.item.case_id, assignment.item_id, assignment.reviewer_id
    )
    return bool(earlier) and _copy_known(assignment, earlier)


@transaction.atomic
def _copy_known(assignment: Assignment, earlier: list[Score]) -> bool:
    lock_item_row(assignment.item_id)
    if not Assignment.objects.filter(pk=assignment.pk, state=Assignment.State.ACTIVE).exists():
        return False  # the assignment ended at the same time
    desk = open_item(assignment.item, assignment.reviewer, reads_all=True)
    if desk.first is None or desk.given:
        return False
    same = next((one for one in earlier if _text_scored(one) == desk.first.sha256), None)
    if same is None:
        return False
    score = _copy(same, desk, desk.steps[0], assignment)
    score.save()
    desk.take(score)
    if desk.next_step is not None:
        return False
    assignment.state, assignment.ended_at = Assignment.State.SUBMITTED, database_now()
    assignment.lease_until = None
    assignment.save(update_fields=["state", "ended_at", "lease_until"])
    _count(desk.item, desk.given, change=1)
    return True


def take_back_copies(score: Score) -> None:
    """Undo the copies of an undone score, and reopen the items that the copies had completed."""
    copies = Score.objects.select_related("assignment", "item__campaign", "item__case").filter(
        reviewer=score.reviewer_id, item__case=score.item.case_id, current=True
    )
    for copy in copies.filter(visible__copied_from=score.pk):
        assignment = copy.assignment
        if assignment is None or assignment.state != Assignment.State.SUBMITTED:
            continue
        Score.objects.filter(assignment=assignment, current=True).update(
            current=False, undone_at=database_now()
        )
        Assignment.objects.filter(pk=assignment.pk).update(state=Assignment.State.RELEASED)
        Item.objects.filter(pk=copy.item_id).update(places=F("places") + 1)
        given = Score.objects.filter(assignment=assignment)
        count_done(copy.item, change=-1 if counts(copy.item, given) else 0)


def _count(item: Item, given: Iterable[Score], *, change: int) -> None:
    if counts(item, given):
        count_done(item, change=change)
    else:
        count_done(item, change=0)
        hand_on(item)


def _same_first_script(desk: ItemView) -> list[Item]:
    """Return the other arms' waiting items that contain the first script and that the reviewer has not handled."""
    first = desk.first
    arms = Item.objects.filter(case=desk.item.case_id).exclude(pk=desk.item.pk)
    if first is None or not arms.exists():
        return []
    drafts = Draft.objects.filter(sha256=first.sha256, run__items__case=desk.item.case_id)
    dealt_with = Assignment.objects.filter(
        reviewer=desk.reviewer, item__case=desk.item.case_id
    ).exclude(state__in=[Assignment.State.RELEASED, Assignment.State.EXPIRED])
    return list(
        Item.objects.waiting()
        .select_related("campaign", "case", "run__action")
        .filter(case=desk.item.case_id, run__in=drafts.values("run"))
        .exclude(pk__in=dealt_with.values("item"))
        .order_by("pk")
    )


def _scores_to_copy(desk: ItemView, other: ItemView) -> list[Score] | None:
    """Return copies of this item's scores for every step of the other item, or None if a step has no score here."""
    if other.first is None or desk.first is None or other.first.sha256 != desk.first.sha256:
        return None
    copied: list[Score] = []
    while step := other.next_step:
        score = desk.scores.get(step.key)
        if score is None or _text_of(step) != _text_scored(score):
            return None
        copied.append(_copy(score, other, step, None))
        other.take(copied[-1])
    return copied or None


def _text_of(step: Step) -> str:
    if step.draft is not None:
        return step.draft.sha256
    return step.feedback.text if step.feedback else ""


def _text_scored(score: Score) -> str:
    if score.draft is not None:
        return score.draft.sha256
    return score.feedback.text if score.feedback else ""


def _copy(score: Score, desk: ItemView, step: Step, assignment: Assignment | None) -> Score:
    return Score(
        item=desk.item,
        reviewer=desk.reviewer,
        stage=score.stage,
        arm=score.arm,
        value=score.value,
        draft=step.draft,
        feedback=step.feedback,
        assignment=assignment,
        # Each arm has its own verdict, which the reviewer may have seen.
        blind=score.blind and not has_seen(desk.reviewer, desk.item),
        comment=score.comment,
        visible={**score.visible, "copied_from": score.pk},
        view=score.view,
        position=score.position,
        sitting_minutes=score.sitting_minutes,
        rubric_id=score.rubric_id,
    )


def _take_place(item: Item) -> bool:
    """Take one of the item's places. Return False if no places are left."""
    return bool(
        Item.objects.filter(pk=item.pk, state=Item.State.OPEN, places__gt=0).update(
            places=F("places") - 1
        )
    )
