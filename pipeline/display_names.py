"""Display names of stages, outcomes and verdicts, which all pages share."""

from __future__ import annotations

from django.utils.translation import gettext, gettext_lazy

from pipeline.flow.stages import find_stage
from pipeline.types import AnswerStatus, Verdict

# Labels of the verdict badges. A pass is only the assessor's opinion, so it is not labeled "correct".
VERDICT_CHOICES = [
    (Verdict.CORRECT.value, gettext_lazy("Passed")),
    (Verdict.INCORRECT.value, gettext_lazy("Flagged")),
    (Verdict.UNKNOWN.value, gettext_lazy("Unknown")),
]

# The status of an action. `templates/pipeline/shared/_answer_badge.html` gives each status an icon and a color.
ANSWER_CHOICES = [
    (AnswerStatus.VERIFIED.value, gettext_lazy("Verified")),
    (AnswerStatus.WAITING.value, gettext_lazy("Waiting for review")),
    (AnswerStatus.FLAGGED.value, gettext_lazy("Flagged")),
    (AnswerStatus.UNKNOWN.value, gettext_lazy("Verdict unknown")),
    (AnswerStatus.UNREVIEWED.value, gettext_lazy("Checked by a model only")),
    (AnswerStatus.IN_REVIEW.value, gettext_lazy("Edited, waiting for verification")),
    (AnswerStatus.REJECTED.value, gettext_lazy("Rejected")),
    (AnswerStatus.WITHDRAWN.value, gettext_lazy("No longer verified")),
    (AnswerStatus.ADAPT.value, gettext_lazy("Starting point found")),
    (AnswerStatus.UNWRITTEN.value, gettext_lazy("No script")),
    (AnswerStatus.RUNNING.value, gettext_lazy("In progress")),
    (AnswerStatus.FAILED.value, gettext_lazy("Failed")),
    (AnswerStatus.CANCELLED.value, gettext_lazy("Canceled")),
    (AnswerStatus.HIDDEN.value, gettext_lazy("Hidden until scored")),
]


def stage_label(name: str) -> str:
    """Return a stage's display name. An unknown stage keeps its stored name."""
    stage = find_stage(name)
    return gettext(stage.label) if stage else name


def answer_label(status: str) -> str:
    """Return the display name of an action's status."""
    return str(dict(ANSWER_CHOICES)[status])


def outcome_label(name: str, outcome: str) -> str:
    """Return the display name of a stage's outcome. An unknown outcome keeps its stored name."""
    stage = find_stage(name)
    label = stage.outcome_label(outcome) if stage else None
    return gettext(label) if label else outcome
