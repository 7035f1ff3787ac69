"""Scores: in the order of the gates, on the exact object seen, append-only, safe to send twice."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from catalog.types import BadInput, NotAllowedNow, Stale
from pipeline import services as pipeline
from pipeline.models import Refinement
from pipeline.types import Arm
from review.desk import Desk, Step, open_desk
from review.models import Assignment, Item, Reveal, Score, TallyDue
from review.queue import answer_sent_back, lease_end
from review.studies import count_done

MAX_COMMENT = 10_000
_SITTING_GAP = 30 * 60  # seconds without a score after which a new sitting begins
_LOOK_BACK = 300


@dataclass(frozen=True, kw_only=True)
class Given:
    """One score as it was sent: what it is about, and which exact object the reviewer had before them."""

    stage: str
    value: int
    seen: int  # primary key of the Draft or Feedback that was shown
    arm: str = Arm.MODEL.value
    comment: str = ""
    view: str = Score.View.PLAIN
    active_seconds: float | None = None


@transaction.atomic
def submit_score(item: Item, given: Given, *, by: User) -> Score:
    """Record a score. Sent again it changes nothing; sent with another value it takes the place of the first.

    Raises BadInput for a value that is none, NotAllowedNow out of order or for somebody else's item, and
    Stale where the object shown is no longer the one to score.
    """
    if given.value not in Score.Value.values:
        raise BadInput(_("A score is 0, 1 or 2."), field="value")
    if len(given.comment) > MAX_COMMENT:
        raise BadInput(
            _("The comment is longer than %s characters.") % f"{MAX_COMMENT:,}", field="comment"
        )
    locked = (
        Item.objects.select_for_update(of=("self",))
        .select_related("campaign", "run")
        .get(pk=item.pk)
    )
    desk = open_desk(locked, by)
    assignment = holding(desk)
    step = _step_of(desk, given)
    before = desk.scores.get(step.key)
    if before and before.value == given.value and before.comment == given.comment.strip():
        return before
    if before:
        Score.objects.filter(pk=before.pk).update(current=False)
    started = sitting_began(by)
    score = Score.objects.create(
        item=locked,
        reviewer=by,
        stage=given.stage,
        arm=given.arm,
        value=given.value,
        draft=step.draft,
        feedback=step.feedback,
        assignment=assignment,
        blind=_is_blind(desk, step, before),
        comment=given.comment.strip(),
        visible=desk.visible,
        view=given.view if given.view in Score.View.values else Score.View.PLAIN,
        position=assignment.position,
        sitting_minutes=(timezone.now() - started).total_seconds() / 60 if started else 0.0,
        active_seconds=given.active_seconds,
        rubric=locked.campaign.rubrics.order_by("-number").first(),
    )
    if not locked.campaign.is_live:
        desk.take(step, score)
        finish(desk, assignment)
    return score


def finish(desk: Desk, assignment: Assignment) -> None:
    """In a study, an item is done when nothing is left to score; one more to score takes it up again."""
    item, through = desk.item, desk.next_step is None
    was_through = assignment.state == Assignment.State.SUBMITTED
    if through and not was_through:
        assignment.state, assignment.ended_at = Assignment.State.SUBMITTED, timezone.now()
        assignment.lease_until = None
    elif was_through and not through:
        assignment.state, assignment.ended_at = Assignment.State.ACTIVE, None
        assignment.lease_until = lease_end()
    if through != was_through:
        assignment.save(update_fields=["state", "ended_at", "lease_until"])
        count_done(item, change=1 if through else -1)
        if through:
            answer_sent_back(assignment)
            item.scratches.filter(reviewer=assignment.reviewer_id).delete()
    TallyDue.objects.create(item=item, campaign=item.campaign)


def reveal(item: Item, what: str, *, by: User) -> None:
    """Show what is hidden before its time, where the campaign allows it; noted, and with each later score too."""
    if what not in Reveal.What.values:
        raise BadInput(_("There is nothing of that name to show."), field="what")
    if not item.campaign.may_reveal:
        raise NotAllowedNow(_("This campaign keeps it hidden until the script is scored."))
    Reveal.objects.get_or_create(item=item, reviewer=by, what=what)


@transaction.atomic
def ask_for_feedback(item: Item, *, by: User) -> Refinement:
    """Live queue: the reviewer marked wrong what the assessor passed. Feedback and refinement are made in the
    background, the reviewer goes on, and the item comes back to them.
    """
    desk = open_desk(item, by)
    assignment = holding(desk)
    if not desk.can_ask_feedback or desk.first is None:
        raise NotAllowedNow(
            _("Feedback can be asked for once the script is scored below 2 and none is there.")
        )
    refinement = pipeline.ask_refinement(desk.first, by=by)
    _set_waiting(assignment)
    return refinement


@transaction.atomic
def send_feedback(item: Item, *, text: str, by: User, based_on: int | None = None) -> Refinement:
    """The expert's own feedback: the script is rewritten from it, and comes back to be scored in its own arm."""
    if not text.strip():
        raise BadInput(_("Write what is wrong with the script."), field="feedback")
    desk = open_desk(item, by)
    assignment = holding(desk)
    if desk.first is None or desk.script_score is None:
        raise NotAllowedNow(_("Score the script first."))
    model_feedback = desk.feedback_in(Arm.MODEL.value)
    if based_on is not None and (model_feedback is None or based_on != model_feedback.pk):
        raise BadInput(_("That is not the feedback you were shown."), field="feedback")
    refinement = pipeline.ask_refinement(
        desk.first, by=by, feedback=text, based_on=model_feedback if based_on else None
    )
    _set_waiting(assignment)
    return refinement


def holding(desk: Desk) -> Assignment:
    """The reviewer's live assignment on this item; raises NotAllowedNow where they hold none."""
    assignment = desk.assignment
    if assignment is not None and desk.may_change_until:
        return assignment
    if desk.is_closed:
        raise NotAllowedNow(_("This item is closed."))
    if assignment is None or assignment.state == Assignment.State.SUBMITTED:
        raise NotAllowedNow(_("You don't hold this item; take it from the queue first."))
    return assignment


def _set_waiting(assignment: Assignment) -> None:
    Assignment.objects.filter(pk=assignment.pk, state=Assignment.State.ACTIVE).update(
        state=Assignment.State.WAITING, lease_until=None
    )


def _step_of(desk: Desk, given: Given) -> Step:
    step = next(
        (one for one in desk.steps if one.stage == given.stage and one.arm == given.arm), None
    )
    if step is None:
        raise NotAllowedNow(_("This stage is not open yet: the stages before it come first."))
    shown = step.draft or step.feedback
    if shown is None or shown.pk != given.seen:
        raise Stale(
            _("What you scored is no longer what stands here."), newest=shown.pk if shown else 0
        )
    return step


def _is_blind(desk: Desk, step: Step, before: Score | None) -> bool:
    """False from the moment that anything later, or the verdict, was visible: the figures use the score before."""
    if before is not None and (not before.blind or _later_was_shown(desk, step)):
        return False
    if step.stage != Score.Stage.SCRIPT:
        return True
    return "verdict" not in desk.revealed and desk.script_score is None


def _later_was_shown(desk: Desk, step: Step) -> bool:
    return desk.steps[-1] is not step


def sitting_began(by: User) -> datetime | None:
    """When this person's sitting began: their first score without a longer gap since; None at its start."""
    began, later = None, timezone.now()
    for at in (
        Score.objects.filter(reviewer=by).order_by("-pk").values_list("at", flat=True)[:_LOOK_BACK]
    ):
        if (later - at).total_seconds() > _SITTING_GAP:
            break
        began = later = at
    return began
