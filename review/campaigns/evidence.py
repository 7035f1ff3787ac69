"""All of an item's data for managers and adjudicators: its texts, and all scores by stage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.utils.translation import gettext as _

from pipeline.models import Action, Draft, DraftFinding, Feedback
from pipeline.types import Arm
from review.blinding.exposure import note_run
from review.blinding.item_view import open_item
from review.campaigns.services import differences
from review.desk.line_comments import remarks_for
from review.desk.views.line_comment_data import ShownRemark
from review.models import Adjudication, Assignment, Item, Remark, Score

# In scoring order. The script stage has no expert arm.
_STAGES = (
    (Score.Stage.SCRIPT, Arm.MODEL),
    (Score.Stage.FEEDBACK, Arm.MODEL),
    (Score.Stage.REFINED, Arm.MODEL),
    (Score.Stage.FEEDBACK, Arm.EXPERT),
    (Score.Stage.REFINED, Arm.EXPERT),
)


@dataclass(frozen=True)
class GivenScore:
    """A score with its reviewer's name or letter."""

    who: str
    score: Score
    was_called_in: bool


@dataclass(frozen=True)
class StageEvidence:
    """A stage with the scored text, all scores, and the adjudication, if any."""

    stage: str
    arm: str
    label: str
    draft: Draft | None
    feedback: Feedback | None
    given: Sequence[GivenScore]
    remarks: Sequence[ShownRemark]
    findings: Sequence[DraftFinding]
    adjudication: Adjudication | None
    is_open: bool  # reviewers differ, and the stage has no adjudication

    @property
    def spread(self) -> tuple[int, int] | None:
        """Return the lowest and the highest score, or None if all scores are equal."""
        values = [one.score.value for one in self.given]
        return (min(values), max(values)) if values and min(values) < max(values) else None

    @property
    def key(self) -> str:
        return f"{self.stage}-{self.arm}"


@dataclass(frozen=True)
class Evidence:
    """An item with its texts. `stages` contains the stages that were created or scored, in scoring order."""

    item: Item
    action: Action
    first: Draft | None
    stages: Sequence[StageEvidence]
    verdict: str

    @property
    def script(self) -> StageEvidence | None:
        return next((one for one in self.stages if one.stage == Score.Stage.SCRIPT), None)

    @property
    def later(self) -> Sequence[StageEvidence]:
        return [one for one in self.stages if one.stage != Score.Stage.SCRIPT]

    @property
    def open(self) -> StageEvidence | None:
        """Return the first stage that needs an adjudication, or None."""
        return next((one for one in self.stages if one.is_open), None)

    @property
    def to_settle(self) -> int:
        return sum(one.is_open for one in self.stages)

    @property
    def execution_differs(self) -> bool | None:
        """Return whether the execution result differs from the reviewers' script score, or None if one is unknown."""
        if self.item.execution is None or self.script is None:
            return None
        word = self.script.adjudication
        values = {word.value} if word else {one.score.value for one in self.script.given}
        if len({value == Score.Value.CORRECT for value in values}) != 1:
            return None
        return (self.item.execution == 1) is not (Score.Value.CORRECT in values)


def read_evidence(item: Item, reader: User, *, names: bool) -> Evidence:
    """Return all data of an item with a run, and record that the reader has seen its verdict.

    If `names` is false, each reviewer is shown as a letter, which is the same at all stages of the item.
    """
    desk = open_item(item, reader, reads_all=True)
    note_run(reader, desk.run)
    found = {(one.stage, one.arm): one for one in differences(item)}
    own = list(
        item.scores.filter(current=True)
        .select_related("reviewer", "draft", "feedback")
        .order_by("reviewer")
    )
    by_stage = {
        (stage, arm): list(found[stage.value, arm.value].scores)
        if (stage.value, arm.value) in found
        else [one for one in own if (one.stage, one.arm) == (stage, arm)]
        for stage, arm in _STAGES
    }
    scores = [one for given in by_stage.values() for one in given]
    called_in = _called_in(scores)
    remarks = remarks_for(item, desk.drafts)
    people = sorted({one.reviewer_id for one in scores} | {one.by_id for one in remarks})
    said = _name_remarks(remarks, people, names)
    stages = []
    for (stage, arm), given in by_stage.items():
        draft, feedback = _object_of(stage, arm, given, desk.first, desk.drafts, desk.feedbacks)
        if draft is None and feedback is None and not given:
            continue
        difference = found.get((stage.value, arm.value))
        stages.append(
            StageEvidence(
                stage=stage.value,
                arm=arm.value,
                label=_label(stage, arm),
                draft=draft,
                feedback=feedback,
                given=[
                    GivenScore(
                        _name_of(one.reviewer, people, names), one, one.assignment_id in called_in
                    )
                    for one in sorted(given, key=lambda one: one.reviewer_id)
                ],
                remarks=said.get(draft.pk, []) if draft else [],
                findings=desk.findings.get(draft.pk, []) if draft else [],
                adjudication=difference.adjudication if difference else None,
                is_open=difference is not None and difference.adjudication is None,
            )
        )
    assessment = getattr(desk.first, "assessment", None) if desk.first else None
    return Evidence(
        item=item,
        action=desk.run.action,
        first=desk.first,
        stages=stages,
        verdict=assessment.verdict if assessment else "",
    )


def _object_of(
    stage: Score.Stage,
    arm: Arm,
    given: Sequence[Score],
    first: Draft | None,
    drafts: Sequence[Draft],
    feedbacks: Sequence[Feedback],
) -> tuple[Draft | None, Feedback | None]:
    """Return the text that was scored at a stage or, if the stage has no score, a text of its arm."""
    if stage == Score.Stage.SCRIPT:
        return first, None
    explained = [
        one for one in feedbacks if first and one.draft_id == first.pk and one.arm == arm.value
    ]
    if stage == Score.Stage.FEEDBACK:
        texts = [one.feedback for one in given if one.feedback] or explained
        return None, texts[-1] if texts else None
    keys = {one.pk for one in explained}
    made = [one for one in drafts if one.feedback_id in keys][:1]
    seen = [one.draft for one in given if one.draft] or made
    return seen[-1] if seen else None, None


def _label(stage: Score.Stage, arm: Arm) -> str:
    label = str(stage.label)
    if arm == Arm.MODEL:
        return label
    if stage == Score.Stage.FEEDBACK:
        return _("An expert's feedback")
    return _("%s, from an expert's feedback") % label


def _called_in(scores: Sequence[Score]) -> set[int | None]:
    """Return the IDs of the scores' assignments that were added to break a tie."""
    keys = {one.assignment_id for one in scores if one.assignment_id is not None}
    found = Assignment.objects.filter(pk__in=keys, reason=Assignment.Reason.TIE_BREAK)
    return set(found.values_list("pk", flat=True))


def _name_remarks(
    remarks: Sequence[Remark], people: Sequence[int], names: bool
) -> dict[int, list[ShownRemark]]:
    """Return the line comments of each Draft, with the same letters or names as for the scores."""
    said: dict[int, list[ShownRemark]] = {}
    for one in remarks:
        who = _name_of(one.by, people, names)
        said.setdefault(one.draft_id, []).append(ShownRemark(one.pk, one.line, one.text, who))
    return said


def _name_of(person: User, people: Sequence[int], names: bool) -> str:
    if names:
        return person.get_full_name() or person.username
    return _("Reviewer %s") % chr(ord("A") + people.index(person.pk) % 26)
