"""The outcome of each stage in words, as the page of a run shows it."""

from __future__ import annotations

from catalog.types import Answer, Retrieval
from pipeline.flow.ports import Assessed, Task
from pipeline.flow.reading.readers import OpinionReading
from pipeline.flow.reading.script_reader import ScriptReading
from pipeline.types import ReadingOutcome, Verdict


def why_unknown(*readings: OpinionReading) -> str:
    """Why the assessors' answers made no verdict: the outcome of the first that could not be read."""
    return next((r.outcome.value for r in readings if r.outcome is not ReadingOutcome.READ), "")


def say_retrieved(retrieval: Retrieval, task: Task) -> str:
    """What the catalogue had to say, and why it is or is not the answer."""
    if not retrieval.matches:
        says = "Nothing in the catalogue comes near."
        if task.uses_examples and retrieval.neighbours:
            says = "Nothing in the catalogue answers it; the nearest entries serve as examples."
        return f"{says} {retrieval.degraded}".rstrip()
    best = retrieval.matches[0]
    says = {
        Answer.MATCH: f"“{best.title}” answers it",
        Answer.ADAPT: f"“{best.title}” is a starting point, not the answer",
        Answer.NONE: f"Nearest is “{best.title}”, which is not it",
    }[retrieval.answer if task.uses_retrieval else Answer.ADAPT]
    details = "; ".join(
        best.differs[:2] if retrieval.answer is not Answer.MATCH else best.reasons[:2]
    )
    return f"{says}{': ' + details if details else ''}."


def say_no_script(reading: ScriptReading) -> str:
    """Why the model's reply holds no script that could be used."""
    says = {
        ReadingOutcome.REFUSED: "The model refused to answer.",
        ReadingOutcome.TRUNCATED: "The reply was cut short twice, so its script can't be trusted.",
        ReadingOutcome.EMPTY: "The model answered with nothing.",
    }.get(reading.outcome, "The reply can't be used")
    return says if says.endswith(".") else f"{says}: {reading.note or 'it holds no script'}."


def say_size(script: str, note: str) -> str:
    """How long a script is, and what was noted of it."""
    lines = script.count("\n") + (not script.endswith("\n"))
    return f"{lines} line{'s' if lines != 1 else ''}{'; ' + note if note else ''}"


def say_verdict(assessed: Assessed) -> str:
    """What the assessor's verdict rests on."""
    if assessed.verdict is Verdict.CORRECT:
        return "Similar, and no difference found: a model says so, and can be wrong."
    if assessed.verdict is Verdict.UNKNOWN:
        return f"The assessor's answer could not be read ({assessed.why})."
    return (
        "\n".join(assessed.differences) or assessed.similarity_reason or assessed.difference_reason
    )
