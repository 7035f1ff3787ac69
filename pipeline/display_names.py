"""Names of stages, their outcomes and verdicts for people, the same on every page."""

from __future__ import annotations

from django.utils.translation import gettext, gettext_lazy

from pipeline.flow.stages import find_stage
from pipeline.types import Verdict

# The words of the verdict badges: a pass is the assessor's, and is not called correct.
VERDICT_CHOICES = [
    (Verdict.CORRECT.value, gettext_lazy("Passed")),
    (Verdict.INCORRECT.value, gettext_lazy("Flagged")),
    (Verdict.UNKNOWN.value, gettext_lazy("Unknown")),
]


def stage_label(name: str) -> str:
    """A stage's name for people; its own where it is one that we don't know."""
    stage = find_stage(name)
    return gettext(stage.label) if stage else name


def outcome_label(name: str, outcome: str) -> str:
    """How a stage ended, in words; the stored word where it is one that we don't know."""
    stage = find_stage(name)
    label = stage.outcome_label(outcome) if stage else None
    return gettext(label) if label else outcome
