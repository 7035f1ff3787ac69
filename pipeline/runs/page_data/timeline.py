"""The timeline of a run: each stage in words, with how it ended, what was found and what it cost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from pipeline.costs.run_costs import RunCosts, Step
from pipeline.costs.services import Sums
from pipeline.display_names import stage_label
from pipeline.models import Stage
from pipeline.types import StageName

# What is found in more words than this is unfolded on demand.
_SHORT = 90


_OUTCOMES = {
    "adapt": _("a starting point"),
    "clean": _("no errors"),
    "conflict": _("contradicts itself"),
    "correct": _("passed"),
    "empty": _("empty reply"),
    "error": _("errors"),
    "examples": _("examples only"),
    "explained": _("explained"),
    "first": _("the first script"),
    "incorrect": _("flagged"),
    "match": _("a match"),
    "mismatch": _("differs"),
    "no_error": _("no error found"),
    "none": _("no match"),
    "read": _("described"),
    "refined": _("the refined script"),
    "refused": _("refused"),
    "repaired": _("repaired"),
    "rewritten": _("rewritten"),
    "seen_before": _("as an earlier one"),
    "stopped": _("stopped"),
    "truncated": _("cut short"),
    "unchanged": _("unchanged"),
    "unknown": _("unknown"),
    "unparsed": _("could not be read"),
    "written": _("written"),
}

# The same word means something else of these.
_OUTCOMES_OF: dict[tuple[str, str], str] = {
    (StageName.SIMILARITY, "match"): _("similar"),
    (StageName.SIMILARITY, "mismatch"): _("not similar"),
    (StageName.DIFFERENCE, "match"): _("no difference"),
    (StageName.DIFFERENCE, "mismatch"): _("differences"),
}


@dataclass(frozen=True)
class ShownStage:
    """One line of the timeline."""

    state: str
    name: str
    round: int
    outcome: str
    found: str
    milliseconds: int | None
    tokens: str
    on_demand: bool
    sums: Sums | None  # of its model calls

    @property
    def is_short(self) -> bool:
        """Whether what was found stands in the line."""
        return len(self.found) <= _SHORT and "\n" not in self.found


def show_stages(stages: Iterable[Stage], costs: RunCosts | None = None) -> list[ShownStage]:
    """The stages in the order in which they were begun, with what each took where that is given."""
    by_step = costs.by_step if costs else {}
    return [
        _show(stage, by_step.get(Step(stage.name, stage.round, stage.refinement_id)))
        for stage in stages
    ]


def _show(stage: Stage, sums: Sums | None) -> ShownStage:
    outcome = _OUTCOMES_OF.get((stage.name, stage.outcome)) or _OUTCOMES.get(stage.outcome)
    used = stage.input_tokens or stage.output_tokens
    return ShownStage(
        state=stage.state,
        name=stage_label(stage.name),
        round=stage.round,
        outcome=gettext(outcome) if outcome else stage.outcome,
        found=stage.found.strip(),
        milliseconds=stage.milliseconds or None,
        tokens=f"{stage.input_tokens:,} + {stage.output_tokens:,}" if used else "",
        on_demand=stage.refinement_id is not None,
        sums=sums,
    )
