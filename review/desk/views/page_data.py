"""Builds the context of the review page's templates from an item view."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

from django.utils.translation import gettext as _

from core.errors import BadInput, NotAllowedNow, Refused, Stale
from core.web.public_keys import ITEM, public_key
from pipeline import services as pipeline
from pipeline.models import Draft
from pipeline.types import Arm
from review.access import REVIEW
from review.blinding.item_queries import read_rubric
from review.blinding.item_view import (
    ItemView,
    Step,
    assessment_of,
    note_evidence_shown_by,
    note_shown_by,
)
from review.desk import quick_reasons
from review.desk.line_comments import write_notes
from review.desk.shown_keys import name_feedback, name_seen
from review.desk.views.decision_data import show_decides
from review.desk.views.evidence_data import show_evidence
from review.desk.views.feedback_secrets import ask_about_secrets
from review.desk.views.line_comment_data import show_remarks
from review.desk.views.pane_data import PaneSelection, show_pane, visible_drafts
from review.desk.views.progress_data import show_progress
from review.desk.views.rubric_lines import rubric_lines
from review.desk.views.waiting_data import came_to_nothing, say_ready, waits_for_rewrite
from review.evidence.first_cases import may_begin
from review.models import Assignment, Case, Rubric, Score
from review.queue.intake import BREAK_GLASS

_SHORT_CONTEXT = 300  # characters; a longer context is collapsed at first


class StepLine(TypedDict):
    label: str
    state: str


class Head(TypedDict):
    """The contents of the page header. Hidden parts are empty."""

    used: str  # used without review
    severity: str
    models: str
    # Whether the item has such a text. The page shows it next to the request.
    target: str
    impact: str
    run: str
    demo: str  # made with the demo model
    context: str  # open, or collapsed if it is long


def show_desk(
    desk: ItemView,
    *,
    selection: PaneSelection | None = None,
    typed: Mapping[str, str] | None = None,
    refused: Refused | None = None,
    whole: bool = False,
    is_preview: bool = False,
) -> dict[str, object]:
    """Return the template's context. `typed` is the refused input. Without it, the autosaved text is shown.

    `whole` is true for a full page, which counts the waiting items. A fragment does not count them. A preview shows
    what a reviewer sees, even to a manager who does not review.
    """
    selection = selection or PaneSelection()
    # Offer only what the services allow: a user without the reviewer role can't work on an item,
    # even with an assignment.
    reviews = is_preview or desk.reviewer.has_perm(REVIEW)
    mine = (
        reviews and desk.assignment is not None and desk.assignment.state == Assignment.State.ACTIVE
    )
    step = _step_to_score(desk, selection, mine=mine)
    drafts = visible_drafts(desk)
    pane = show_pane(desk, step, drafts, selection)
    before = desk.scores.get(step.key) if step else None
    scores = [desk.scores[one.key] for one in desk.steps if one.key in desk.scores]
    may_write = _may_write_feedback(desk)
    may_change = mine or (reviews and desk.may_change_until is not None)
    feedback = desk.feedback_in(Arm.MODEL.value) if desk.visible["feedback"] else None
    title, ready, waits = _title(step), say_ready(desk), step is None and waits_for_rewrite(desk)
    said = show_remarks(
        desk,
        shown=pane.shown.draft if pane else None,
        against=pane.against.draft if pane and pane.against else None,
        typed=typed,
        may_change=may_change,
    )
    rubric = _rubric(desk)
    assessment = assessment_of(desk.first) if desk.visible["verdict"] else None
    evidence = show_evidence(desk, drafts, typed=typed)
    texts = _texts(desk, step, before, typed, keeps=isinstance(refused, NotAllowedNow))
    if assessment is not None:
        note_shown_by(desk)
    if evidence is not None:
        note_evidence_shown_by(desk)
    return {
        **said,
        "nav_section": "queue" if desk.item.campaign.is_live else "studies",
        "desk": desk,
        "item": desk.item,
        "item_key": public_key(ITEM, desk.item.pk),
        "action": desk.run.action,
        "run": desk.run,
        "mine": mine,
        "reviews": reviews,
        "head": _head(desk),
        "say": _say(title, ready, waits=waits, mine=mine),
        "step": step,
        "seen": name_seen(desk.item.pk, step) if step else None,
        "view": "diff" if pane and pane.against else "plain",
        "changes": before is not None,
        "waits": waits,
        "ready": ready,
        "nothing_came": bool(ready) and came_to_nothing(desk),
        "step_title": title,
        "steps": _step_lines(desk, step, waits=waits),
        "progress": show_progress(desk, whole=whole) if reviews else None,
        "pane": pane,
        "shown": pane.shown if pane else None,
        "side": selection.side,
        "drafts": drafts,
        "assessment": assessment,
        "evidence": evidence,
        "may_begin_cases": evidence is None and may_begin(desk),
        "feedback": feedback,
        "feedback_name": name_feedback(desk.item.pk, feedback.pk) if feedback else "",
        "typed": texts,
        "typed_why": {name: str(texts.get(name, "")) for name in ("why", "flag")},
        "decides": show_decides(desk, step, drafts, refused, typed or {})
        if mine and desk.item.campaign.is_live
        else None,
        # The page reports a saved state only after the user has typed something.
        "saved_state": "saved" if desk.scratch and desk.scratch.fields else "none",
        "fence": desk.assignment.fence if desk.assignment else "",
        "revision": desk.scratch.revision if desk.scratch else 0,
        "refused": refused,
        "refused_field": refused.field if isinstance(refused, BadInput) else "",
        "refused_words": str(refused or ""),
        "secrets_form": ask_about_secrets(refused),
        "newer": _newer(desk, refused),
        "rubric": rubric,
        "rubric_lines": rubric_lines(rubric.text, step.stage) if rubric and step else None,
        "quick_reject": quick_reasons.REJECT,
        "quick_skip": quick_reasons.SKIP,
        "known": _known(desk),
        "scores": scores,
        "decision_comment": "" if mine else _decision_comment(desk, scores),
        "may_change": may_change,
        "may_reveal": desk.item.campaign.may_reveal and not desk.visible["verdict"],
        "may_write": may_write,
        "own_notes": write_notes(desk) if may_write else "",
        # A lambda, because only a page with a feedback field needs it.
        "can_shorten": lambda: pipeline.can_shorten(desk.run),
    }


def _head(desk: ItemView) -> Head:
    action, visible = desk.run.action, desk.visible
    is_open = len(action.context) < _SHORT_CONTEXT
    shows_run = desk.run.pk and visible["verdict"] and desk.item.campaign.is_live
    return {
        "used": _shown(desk.item.priority >= BREAK_GLASS),
        "severity": action.get_severity_display().lower(),
        "target": _shown(action.target),
        "impact": _shown(action.impact),
        "models": str(desk.run.configuration) if visible["models"] and not desk.run.demo else "",
        "run": _shown(shows_run),
        "demo": _shown(desk.run.demo and visible["models"]),
        "context": _shown(action.context) and ("open" if is_open else "closed"),
    }


def _shown(what: object) -> str:
    return "yes" if what else ""


def _say(title: str, ready: str, *, waits: bool, mine: bool) -> str:
    """Return what a screen reader announces after loading. A reviewer with a stage to score never waits."""
    if waits:
        return _("Waiting for the rewrite")
    return title or ready or (_("All scored.") if mine else "")


def _rubric(desk: ItemView) -> Rubric | None:
    key: int | None = desk.item.rubric_in_force  # type: ignore[attr-defined]
    return read_rubric(key) if key else None


def _step_to_score(desk: ItemView, selection: PaneSelection, *, mine: bool) -> Step | None:
    """Return the stage that the reviewer wants to change, or else the first stage without a score."""
    changed = next((one for one in desk.steps if one.key == selection.change), None)
    if changed and changed.key in desk.scores and (mine or desk.may_change_until):
        return changed
    return desk.next_step if mine else None


def _texts(
    desk: ItemView,
    step: Step | None,
    before: Score | None,
    typed: Mapping[str, str] | None,
    *,
    keeps: bool,
) -> dict[str, object]:
    """Return the contents of the fields. Comment and value are saved separately for each stage.

    With `keeps`, an empty submitted field does not hide a text that another tab has saved.
    """
    texts: dict[str, object] = dict(desk.scratch.fields) if desk.scratch else {}
    if step is not None:
        kept = texts.get(f"comment-{step.key}")
        texts["comment"] = kept if kept is not None else before.comment if before else ""
        value = texts.get(f"value-{step.key}")
        chosen = value if value in ("0", "1", "2") else None
        texts["value"] = int(str(chosen)) if chosen else before.value if before else None
    if typed is not None:
        texts |= {
            name: typed[name]
            for name in typed
            if name != "value" and (typed[name] or not keeps or name not in texts)
        }
        value = typed.get("value", "")
        if value or not keeps:
            texts["value"] = int(value) if value in ("0", "1", "2") else None
    return texts


def _decision_comment(desk: ItemView, scores: list[Score]) -> str:
    """Return the comment typed with the decision if no score has this comment."""
    comment = str(desk.decision.picked.get("comment", "")) if desk.decision else ""
    return "" if comment in {score.comment for score in scores} else comment


def _title(step: Step | None) -> str:
    if step is None:
        return ""
    titles = {
        Score.Stage.SCRIPT: _("Is the script correct?"),
        Score.Stage.FEEDBACK: _("Is the feedback correct?"),
        Score.Stage.REFINED: _("Is the refined script correct?"),
    }
    return titles[Score.Stage(step.stage)]


def _may_write_feedback(desk: ItemView) -> bool:
    """Return whether the reviewer scored the script as wrong and no rewrite is in progress."""
    score = desk.script_score
    return score is not None and score.value < Score.Value.CORRECT and not desk.is_preparing


def _step_lines(desk: ItemView, step: Step | None, *, waits: bool) -> list[StepLine]:
    """Return the stages as a row. A stage that has no score and can't get one is marked as not needed."""
    labels = {"script": _("Script"), "feedback": _("Feedback"), "refined": _("Refined")}
    asked = {one.stage for one in desk.steps}
    is_through = (
        desk.script_score is not None
        and desk.next_step is None
        and not (waits or desk.is_preparing or desk.can_ask_feedback)
    )
    lines: list[StepLine] = []
    for stage, label in labels.items():
        state = ""
        if f"{stage}-model" in desk.scores:
            state = "done"
        elif step is not None and step.stage == stage:
            state = "current"
        elif is_through and stage not in asked:
            state = "unneeded"
        lines.append({"label": label, "state": state})
    return lines


def _known(desk: ItemView) -> list[dict[str, object]]:
    """Return the correct scores of a training item, once this reviewer has scored every stage."""
    case, assignment = desk.item.case, desk.assignment
    through = assignment is not None and assignment.state == Assignment.State.SUBMITTED
    if case.purpose != Case.Purpose.TRAINING or not through:
        return []
    return [
        {"stage": stage, "value": case.known[stage]}
        for stage in Score.Stage.values
        if stage in case.known
    ]


def _newer(desk: ItemView, refused: Refused | None) -> Draft | None:
    if not isinstance(refused, Stale):
        return None
    return next((draft for draft in desk.drafts if draft.number == refused.newest), None)
