"""Record scores in stage order, for the exact text that was shown. Replaced scores are not deleted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from core.database.clock import database_now
from core.database.prepared_writes import insert, store, update
from core.errors import BadInput, NotAllowedNow, Stale
from pipeline.types import Arm
from review.blinding.exposure import load_exposure
from review.blinding.item_queries import lock_item
from review.blinding.item_view import ItemView, Step, open_item
from review.counting.completion import count_done, counts, hand_on
from review.models import Assignment, Case, Item, Reveal, Score
from review.models.score import OF_ANOTHER
from review.queue.assignment_leases import check_fence, lease_end
from review.queue.copied_scores import copy_to_same_scripts
from review.queue.reassignment import mark_answered
from review.queue.reviewer_checks.gold import note_trained
from review.queue.reviewer_checks.repeats import SITTING_GAP, make_repeat

MAX_COMMENT = 10_000
_TIMES = ("active_seconds", "pauses")
_ENDING = ("state", "ended_at", "lease_until")


@dataclass(frozen=True, kw_only=True)
class ScoreInput:
    """A submitted score, with its stage and the exact Draft or Feedback that the reviewer saw."""

    stage: str
    value: int
    seen: int  # primary key of the Draft or Feedback shown
    arm: str = Arm.MODEL.value
    comment: str = ""
    view: str = Score.View.PLAIN
    active_seconds: float | None = None
    pauses: int = 0  # periods without activity that exceeded the idle limit
    fence: int | None = None  # fence of the tab that sends the score; None without a tab


def submit_score(item: Item, given: ScoreInput, *, by: User) -> Score:
    """Record a score. Repeating the call changes nothing. A different value replaces the earlier score.

    Raises BadInput for an invalid value, and Stale if the text to score has changed since the page was loaded. Raises
    NotAllowedNow if the stage is not open, the reviewer has not claimed the item, or another tab is active.
    """
    return score_locked(lambda: lock_item(item.pk, by.pk)[0], given, by=by)


def score_locked(lock: Callable[[], Item], given: ScoreInput, *, by: User) -> Score:
    """Record a score for the item that `lock` reads and locks. `lock` is called in the score's transaction."""
    try:
        return _score(lock, given, by=by)
    except IntegrityError:
        # The score was sent twice at the same time, and this request read the scores before the other request saved its
        # score.
        return _score(lock, given, by=by)


@transaction.atomic
def _score(lock: Callable[[], Item], given: ScoreInput, *, by: User) -> Score:
    item = lock()
    if given.value not in Score.Value.values:
        raise BadInput(_("The score must be 0, 1 or 2."), field="value")
    if len(given.comment) > MAX_COMMENT:
        raise BadInput(
            _("The comment is longer than %s characters.") % f"{MAX_COMMENT:,}", field="comment"
        )
    desk = open_item(item, by, reads_all=True, shows=False)
    step = _step_of(desk, given)
    before = desk.scores.get(step.key)
    if before and before.value == given.value and before.comment == given.comment.strip():
        # The request repeats an earlier request whose response may have been lost. The item may be closed now.
        before.item = item
        return before
    assignment = held_assignment(desk)
    check_fence(assignment, given.fence)
    score = make_score(desk, step, given, assignment)
    add_time(assignment, step, given)
    desk.take(score)
    if item.campaign.is_live:
        store(insert(score), update(assignment, _TIMES))
    else:
        finish(desk, assignment, score)
    return score


def make_score(desk: ItemView, step: Step, given: ScoreInput, assignment: Assignment) -> Score:
    """Return the unsaved score with its metadata, and mark an earlier score for its stage as replaced.

    The item in `desk` must come from a query that locks the item.
    """
    item, before = desk.item, desk.scores.get(step.key)
    if before:
        Score.objects.filter(pk=before.pk).update(current=False)
    return Score(
        item=item,
        reviewer=desk.reviewer,
        stage=step.stage,
        arm=step.arm,
        value=given.value,
        draft=step.draft,
        feedback=step.feedback,
        assignment=assignment,
        blind=is_blind(desk, step),
        comment=given.comment.strip(),
        visible=desk.visible
        | _met_before(desk)
        | ({OF_ANOTHER: True} if step.is_of_another else {}),
        earlier_by=_earlier_by(desk, step),
        view=given.view if given.view in Score.View.values else Score.View.PLAIN,
        position=assignment.position,
        sitting_minutes=_sitting_minutes(item),
        active_seconds=given.active_seconds,
        rubric_id=item.rubric_in_force,  # type: ignore[attr-defined]
    )


def finish(desk: ItemView, assignment: Assignment, score: Score | None = None) -> None:
    """Save a study score. Complete the assignment when no stage is left to score, or reopen it if a stage opens."""
    item, through = desk.item, desk.next_step is None
    changes = through != (assignment.state == Assignment.State.SUBMITTED)
    if changes:
        assignment.state = Assignment.State.SUBMITTED if through else Assignment.State.ACTIVE
        assignment.ended_at = database_now() if through else None
        assignment.lease_until = None if through else lease_end()
    does_count = counts(item, desk.given)
    count_done(
        item,
        change=(1 if through else -1) if changes and does_count else 0,
        with_writes=[
            *([insert(score)] if score else []),
            update(assignment, [*(_ENDING if changes else ()), *_TIMES]),
        ],
    )
    if changes and through:
        if not does_count:
            hand_on(item)
        _end(desk, assignment)


@transaction.atomic
def confirm_scores(item: Item, *, by: User) -> None:
    """Complete an item that was sent back, whether or not its scores were changed. Raises NotAllowedNow."""
    locked = (
        Item.objects.select_for_update(of=("self",))
        .select_related("campaign", "case", "run__action")
        .get(pk=item.pk)
    )
    desk = open_item(locked, by)
    assignment = held_assignment(desk)
    if desk.sent_back is None:
        raise NotAllowedNow(_("This item was not sent back to you."))
    if desk.next_step is not None:
        raise NotAllowedNow(_("Score the remaining stages first."))
    finish(desk, assignment)
    mark_answered(assignment)


def _end(desk: ItemView, assignment: Assignment) -> None:
    """Clean up after a reviewer has finished an item. Steps that the locking query found unnecessary are skipped."""
    item = desk.item
    if len(desk.given) > len(desk.steps):  # a score was replaced
        mark_answered(assignment)
    if getattr(item, "has_arms", True):
        copy_to_same_scripts(desk)
    if getattr(item, "has_scratch", True):
        item.scratches.filter(reviewer=assignment.reviewer_id).delete()
    note_trained(item, assignment.reviewer)
    make_repeat(item, by=assignment.reviewer)


def is_through(item: Item, score: Score) -> bool:
    """Return whether the reviewer has finished a study item with this score.

    Return False for a training item, because its page stays open to show the correct scores.
    """
    if item.campaign.is_live or item.case.purpose == Case.Purpose.TRAINING:
        return False
    assignment = score.assignment
    return assignment is not None and assignment.state == Assignment.State.SUBMITTED


def reveal(item: Item, what: str, *, by: User) -> None:
    """Reveal hidden information early if the campaign allows it.

    The reveal is recorded now and with each later score.
    """
    if what not in Reveal.What.values:
        raise BadInput(_("Unknown option."), field="what")
    if not item.campaign.may_reveal:
        raise NotAllowedNow(_("This stays hidden until the script is scored."))
    Reveal.objects.get_or_create(item=item, reviewer=by, what=what)


def held_assignment(desk: ItemView) -> Assignment:
    """Return the reviewer's open assignment to this item, or raise NotAllowedNow if the reviewer has none."""
    assignment = desk.assignment
    if assignment is not None and desk.may_change_until:
        return assignment
    if desk.is_closed:
        raise NotAllowedNow(_("This item is closed."))
    if assignment is None or assignment.state == Assignment.State.SUBMITTED:
        raise NotAllowedNow(_("You haven't claimed this item. Claim it from the queue first."))
    return assignment


def _step_of(desk: ItemView, given: ScoreInput) -> Step:
    of_stage = [one for one in desk.steps if (one.stage, one.arm) == (given.stage, given.arm)]
    # In the experts' arm, two refined scripts may be open: one from the reviewer's own feedback and one from another
    # expert's.
    step = next((one for one in of_stage if one.seen == given.seen), next(iter(of_stage), None))
    if step is None:
        raise NotAllowedNow(_("This stage is not open yet. Score the earlier stages first."))
    if step.seen != given.seen:
        raise Stale(_("The script has changed since you scored it."), newest=0)
    return step


def _earlier_by(desk: ItemView, step: Step) -> dict[str, int]:
    """Return a dict that maps each earlier stage of the arm to the reviewer of its current score."""
    before = [
        one for one in desk.steps[: desk.steps.index(step)] if one.arm in (Arm.MODEL, step.arm)
    ]
    return {
        one.stage: desk.scores[one.key].reviewer_id
        for one in before
        if one.key in desk.scores and one.stage != step.stage
    }


def is_blind(desk: ItemView, step: Step) -> bool:
    """Return whether the reviewer gives this score before seeing a later stage or a hidden verdict.

    If not, the figures use the earlier score. Undoing a score does not make a reviewer blind again.
    """
    if desk.item.campaign.hides_verdict and (
        Reveal.What.VERDICT in desk.revealed or _has_seen_verdict(desk)
    ):
        return False
    earlier = [one for one in desk.given if one.step_key == step.key]
    if not earlier:
        return True
    if any(not one.blind for one in earlier) or desk.item.campaign.is_live:
        return False
    if desk.item.campaign.hides_verdict and desk.visible["verdict"]:
        return False
    if step.stage == Score.Stage.SCRIPT:
        return not any(desk.opens_at(one.value) for one in earlier)
    return desk.steps[-1].key == step.key


def _has_seen_verdict(desk: ItemView) -> bool:
    """Return whether the reviewer saw the verdict before scoring this item's script.

    In the review queue, the page shows the verdict after the script is scored, so later exposures don't count.
    """
    item = desk.item
    load_exposure(desk.reviewer, item)
    seen: datetime | None = item.exposed_at  # type: ignore[attr-defined]
    if item.scored_in_queue:  # type: ignore[attr-defined]
        return True
    if seen is None or not item.campaign.is_live:
        return seen is not None
    opened = next((one.at for one in desk.given if one.stage == Score.Stage.SCRIPT), None)
    return opened is None or seen < opened


def _met_before(desk: ItemView) -> dict[str, bool]:
    """Return whether the reviewer may know this Action, because they requested it or reviewed another of its items."""
    return {
        "asked": desk.run.action.asked_by_id == desk.reviewer.pk,
        "seen_before": desk.item.seen_before,  # type: ignore[attr-defined]
    }


def rubric_in_force(item: Item) -> int | None:
    """Return the primary key of the current rubric."""
    newest = item.campaign.rubrics.order_by("-number").values_list("pk", flat=True)
    return newest.first()


def _sitting_minutes(locked: Item) -> float:
    """Return the minutes since this reviewer's session began, or 0 if the last score is from an earlier session."""
    last: datetime | None = locked.last_score_at  # type: ignore[attr-defined]
    before: float | None = locked.last_sitting_minutes  # type: ignore[attr-defined]
    if last is None or database_now() - last > SITTING_GAP:
        return 0.0
    return (before or 0.0) + (database_now() - last).total_seconds() / 60


def add_time(assignment: Assignment, step: Step, given: ScoreInput) -> None:
    """Add the page's active seconds and pauses to the assignment, but do not save the assignment."""
    if given.active_seconds is None:
        return
    before = assignment.active_seconds.get(step.key, 0)
    assignment.active_seconds[step.key] = round(before + given.active_seconds, 1)
    assignment.pauses += given.pauses
