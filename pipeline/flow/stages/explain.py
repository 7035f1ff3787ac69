"""Explain: the model explains in at most three points why a flagged script fails. It may also answer "no error"."""

from __future__ import annotations

from core.translation import gettext_noop as _
from pipeline.flow.declaration import AskedStage
from pipeline.flow.passage import Passage
from pipeline.flow.ports import Assessed, FeedbackGiven
from pipeline.flow.prompts import fence
from pipeline.flow.reading.readers import read_explanation
from pipeline.types import ReadingOutcome, Role, StageName

STAGE = AskedStage(
    name=StageName.EXPLAIN,
    label=_("Explain"),
    outcomes={"explained": _("explained"), "no_error": _("no error found")},
    role=Role.REFINER,
    answer={
        "verdict": {"type": "string", "enum": ["error", "no_error"]},
        "points": {
            "type": "array",
            "items": {"type": "string", "description": "one sentence each, at most three"},
        },
    },
    read=read_explanation,
)


def explain(passage: Passage, assessed: Assessed, *, round: int) -> FeedbackGiven | None:
    """Return the model's feedback on a Draft, or None if it can't be read."""
    flow_input = passage.flow_input
    with passage.stage(STAGE, round=round) as step:
        question = STAGE.question(
            flow_input.templates,
            round=round,
            STATEMENT=fence(flow_input.statement, "STATEMENT"),
            SCRIPT=fence(assessed.draft.script, "SCRIPT"),
            FUNCTIONALITY=fence(assessed.functionality or "(not described)", "FUNCTIONALITY"),
            DIFFERENCES=fence("\n".join(assessed.noted) or "(nothing)", "DIFFERENCES"),
        )
        reading = passage.ask(STAGE, question)
        if reading.outcome is not ReadingOutcome.READ:
            step.end(reading.outcome, ok=False)
            return None
        points = "\n".join(f"- {point}" for point in reading.points)
        feedback = FeedbackGiven(
            draft=assessed.draft,
            text="No error found." if reading.no_error else points,
            round=round,
            points=len(reading.points),
            no_error_found=reading.no_error,
        )
        passage.ports.keep_feedback(feedback)
        step.end(
            "no_error" if reading.no_error else "explained",
            found=feedback.text,
            draft=assessed.draft,
        )
    return feedback
