"""Names of stages and verdicts for people, the same on every page."""

from __future__ import annotations

from django.utils.translation import gettext, gettext_lazy
from django.utils.translation import gettext_noop as _

from pipeline.types import StageName, Verdict

# The words of the verdict badges: a pass is the assessor's, and is not called correct.
VERDICT_CHOICES = [
    (Verdict.CORRECT.value, gettext_lazy("Passed")),
    (Verdict.INCORRECT.value, gettext_lazy("Flagged")),
    (Verdict.UNKNOWN.value, gettext_lazy("Unknown")),
]

_STAGES: dict[str, str] = {
    StageName.RETRIEVE: _("Search the catalogue"),
    StageName.GENERATE: _("Write"),
    StageName.CHECK: _("Check syntax"),
    StageName.REPAIR: _("Repair"),
    StageName.DESCRIBE: _("Describe"),
    StageName.SIMILARITY: _("Compare: similarity"),
    StageName.DIFFERENCE: _("Compare: differences"),
    StageName.ENSEMBLE: _("Verdict"),
    StageName.EXPLAIN: _("Explain"),
    StageName.REFINE: _("Refine"),
    StageName.RECOMMEND: _("Recommend"),
    StageName.SHORTEN: _("Shorten"),
}


def stage_label(stage: str) -> str:
    """A stage's name for people; its own where it is one that we don't know."""
    return gettext(_STAGES[stage]) if stage in _STAGES else stage
