"""Notes for a run's page about a model's script, or about why the script is missing."""

from __future__ import annotations

from pipeline.flow.reading.script_reader import ScriptReading
from pipeline.types import ReadingOutcome


def say_no_script(reading: ScriptReading) -> str:
    """Return why the model's reply contains no usable script."""
    if reading.outcome is ReadingOutcome.REFUSED and reading.note:
        return f"The model refused: {reading.note}"
    says = {
        ReadingOutcome.REFUSED: "The model refused to answer.",
        ReadingOutcome.TRUNCATED: "The reply was truncated twice, so its script was not used.",
        ReadingOutcome.EMPTY: "The model's reply was empty.",
    }.get(reading.outcome, "The reply can't be used")
    return says if says.endswith(".") else f"{says}: {reading.note or 'it contains no script'}."


def say_size(script: str, note: str) -> str:
    """Return the length of a script and the notes on it."""
    lines = script.count("\n") + (not script.endswith("\n"))
    return f"{lines} line{'s' if lines != 1 else ''}{'; ' + note if note else ''}"
