"""Ensemble: combine both comparisons into the verdict on a Draft."""

from __future__ import annotations

from core.translation import gettext_noop as _
from pipeline.flow.declaration import Stage
from pipeline.flow.passage import Passage
from pipeline.flow.ports import Assessed
from pipeline.flow.reading.readers import OpinionReading
from pipeline.types import Opinion, ReadingOutcome, StageName, Verdict

STAGE = Stage(
    name=StageName.ENSEMBLE,
    label=_("Verdict"),
    outcomes={
        "correct": _("passed"),
        "incorrect": _("flagged"),
        "unknown": _("unknown"),
    },
)


def conclude(passage: Passage, assessed: Assessed, *, round: int) -> None:
    """Store the verdict with its reasons."""
    with passage.stage(STAGE, round=round) as step:
        passage.ports.keep_assessment(assessed)
        step.end(assessed.verdict, found=say_verdict(assessed), draft=assessed.draft)


def combine(similarity: Opinion, difference: Opinion) -> Verdict:
    """Return the verdict: correct if both opinions match, incorrect if either is a mismatch, otherwise unknown."""
    if Opinion.MISMATCH in (similarity, difference):
        return Verdict.INCORRECT
    if similarity is difference is Opinion.MATCH:
        return Verdict.CORRECT
    return Verdict.UNKNOWN


def why_unknown(*readings: OpinionReading) -> str:
    """Return why there is no verdict: the outcome of the first unreadable answer."""
    return next((r.outcome.value for r in readings if r.outcome is not ReadingOutcome.READ), "")


def say_verdict(assessed: Assessed) -> str:
    """Explain the assessor's verdict."""
    if assessed.verdict is Verdict.CORRECT:
        return "Similar, with no differences, according to a model that can be wrong."
    if assessed.verdict is Verdict.UNKNOWN:
        return f"The assessor's reply could not be read ({assessed.why})."
    return (
        "\n".join(assessed.differences) or assessed.similarity_reason or assessed.difference_reason
    )
