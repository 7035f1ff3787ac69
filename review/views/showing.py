"""What the review screen's templates need of a Desk, in the words they use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypedDict

from django.utils.translation import gettext as _

from catalog.types import BadInput, Refused, Stale
from pipeline.models import Draft, DraftFinding
from pipeline.types import Arm
from review.desk import Desk, Step, assessment_of
from review.models import Assignment, Score


class StepLine(TypedDict):
    label: str
    state: str


@dataclass(frozen=True)
class ShownDraft:
    """One Draft that may be seen now."""

    draft: Draft
    label: str
    findings: list[DraftFinding]
    score: Score | None


def show_desk(
    desk: Desk, *, typed: Mapping[str, str] | None = None, refused: Refused | None = None
) -> dict[str, object]:
    """The template's context. `typed` is what was sent and refused; else the scratch that was kept."""
    mine = desk.assignment is not None and desk.assignment.state == Assignment.State.ACTIVE
    step = desk.next_step if mine else None
    drafts = _visible_drafts(desk)
    shown = _draft_in_view(desk, step, drafts)
    kept = dict(desk.scratch.fields) if desk.scratch else {}
    texts = {**kept, **({name: typed[name] for name in typed} if typed is not None else {})}
    return {
        "desk": desk,
        "item": desk.item,
        "action": desk.run.action,
        "run": desk.run,
        "mine": mine,
        "step": step,
        "step_title": _title(step),
        "steps": _step_lines(desk, step),
        "shown": shown,
        "before": desk.first if shown and shown.draft != desk.first else None,
        "drafts": drafts,
        "assessment": assessment_of(desk.first) if desk.visible["verdict"] else None,
        "feedback": desk.feedback_in(Arm.MODEL.value) if desk.visible["feedback"] else None,
        "typed": texts,
        "revision": desk.scratch.revision if desk.scratch else 0,
        "refused": refused,
        "refused_field": refused.field if isinstance(refused, BadInput) else "",
        "newer": _newer(desk, refused),
        "rubric": desk.item.campaign.rubrics.order_by("-number").first(),
        "scores": [desk.scores[one.key] for one in desk.steps if one.key in desk.scores],
    }


def _visible_drafts(desk: Desk) -> list[ShownDraft]:
    """The Drafts whose stage is open, and those made by people; in a closed item, all."""
    steps = {step.draft.pk: step for step in desk.steps if step.draft}
    shown = []
    for draft in desk.drafts:
        step = steps.get(draft.pk)
        if step is None and not (desk.is_closed and desk.visible["feedback"]):
            continue
        shown.append(
            ShownDraft(
                draft=draft,
                label=_("Script %(number)s, %(kind)s")
                % {"number": draft.number, "kind": draft.get_kind_display().lower()},
                findings=desk.findings.get(draft.pk, []),
                score=desk.scores.get(step.key) if step else None,
            )
        )
    return shown


def _draft_in_view(desk: Desk, step: Step | None, drafts: list[ShownDraft]) -> ShownDraft | None:
    """The Draft to score; with nothing to score, the best scored one, the newest of equals."""
    if not drafts:
        return None
    if step and step.draft:
        return next((one for one in drafts if one.draft.pk == step.draft.pk), drafts[0])
    if step and step.stage == Score.Stage.FEEDBACK:
        return drafts[0]
    return max(drafts, key=lambda one: (one.score.value if one.score else -1, one.draft.number))


def _title(step: Step | None) -> str:
    if step is None:
        return ""
    titles = {
        Score.Stage.SCRIPT: _("Is the script right?"),
        Score.Stage.FEEDBACK: _("Is the feedback right?"),
        Score.Stage.REFINED: _("Is the refined script right?"),
    }
    return titles[Score.Stage(step.stage)]


def _step_lines(desk: Desk, step: Step | None) -> list[StepLine]:
    labels = {"script": _("Script"), "feedback": _("Feedback"), "refined": _("Refined")}
    lines: list[StepLine] = []
    for stage, label in labels.items():
        done = f"{stage}-model" in desk.scores
        current = step is not None and step.stage == stage
        lines.append({"label": label, "state": "done" if done else "current" if current else ""})
    return lines


def _newer(desk: Desk, refused: Refused | None) -> Draft | None:
    if not isinstance(refused, Stale):
        return None
    return next((draft for draft in desk.drafts if draft.number == refused.newest), None)
