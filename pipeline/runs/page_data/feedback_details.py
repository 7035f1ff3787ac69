"""The feedback on a run's page, with the number of omitted points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.flow.reading.readers import read_explanation
from pipeline.llm.request_builder import reply_of
from pipeline.models import Feedback, ModelCall, Run, Stage
from pipeline.types import Arm, ReadingOutcome, StageName


@dataclass(frozen=True)
class ShownFeedback:
    """One Feedback, and the number of points in the model's reply that it omits."""

    feedback: Feedback
    cut: int


def show_feedbacks(run: Run, stages: Sequence[Stage]) -> list[ShownFeedback]:
    """Return the feedback on the run's drafts, oldest first, in two queries."""
    cut = _points_cut(run, stages)
    found = Feedback.objects.filter(draft__run=run).select_related("draft", "author")
    return [
        ShownFeedback(one, cut.get(one.draft_id, 0) if one.arm == Arm.MODEL else 0) for one in found
    ]


def _points_cut(run: Run, stages: Sequence[Stage]) -> dict[int, int]:
    """Return the number of omitted points per draft. Each draft has at most one feedback from the model."""
    explained = {
        (stage.round, stage.refinement_id): stage.draft_id
        for stage in stages
        if stage.name == StageName.EXPLAIN and stage.draft_id
    }
    calls = ModelCall.objects.filter(
        run=run, stage=StageName.EXPLAIN.value, outcome=ReadingOutcome.READ.value
    ).order_by("sample")
    return {
        explained[call.round, call.refinement_id]: read_explanation(reply_of(call.reply or {})).cut
        for call in calls
        if (call.round, call.refinement_id) in explained
    }
