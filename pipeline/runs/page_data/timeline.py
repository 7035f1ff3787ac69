"""The timeline of a run: each stage with its outcome, findings and cost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext, gettext_noop

from pipeline.costs.run_costs import RunCosts, Step
from pipeline.costs.services import Sums
from pipeline.display_names import outcome_label, stage_label
from pipeline.models import Run, Stage
from pipeline.types import StageName, Verdict

# The page shows these findings elsewhere: in the assessment, the feedback or the answer.
_SAID_ELSEWHERE = {
    StageName.DESCRIBE,
    StageName.SIMILARITY,
    StageName.DIFFERENCE,
    StageName.EXPLAIN,
    StageName.RECOMMEND,
}
# The page lists the differences for this verdict. For a pass, the finding explains how little a pass means.
_ENSEMBLE_LISTS = Verdict.INCORRECT
# Longer findings are collapsed.
_SHORT = 90


@dataclass(frozen=True)
class Confirmation:
    """The assessor's description and opinions of an entry, from before the entry was used as the answer."""

    functionality: str
    similarity: str
    difference: str


def confirmation_of(run: Run, stages: Iterable[Stage]) -> Confirmation | None:
    """Return the confirmation of a match, or None for a match by score alone."""
    if not run.match_confirmed_by:
        return None
    found = {stage.name: stage.found for stage in stages}
    return Confirmation(
        functionality=found.get(StageName.ENTRY_DESCRIBE, ""),
        similarity=found.get(StageName.ENTRY_SIMILARITY, ""),
        difference=found.get(StageName.ENTRY_DIFFERENCE, ""),
    )


@dataclass(frozen=True)
class ShownStage:
    """One line of the timeline."""

    state: str
    name: str
    round: int
    outcome: str
    since: datetime | None  # when the stage began, if it is running
    found: str
    milliseconds: int | None
    tokens: str
    on_demand: bool
    sums: Sums | None  # sums over the stage's model calls

    @property
    def is_short(self) -> bool:
        """Return whether the finding fits on the line."""
        return len(self.found) <= _SHORT and "\n" not in self.found


def show_stages(
    stages: Iterable[Stage],
    costs: RunCosts | None = None,
    *,
    beside_evidence: bool = False,
    run_state: str = Run.State.DONE,
) -> list[ShownStage]:
    """Return the stages in order, with their costs if given.

    `beside_evidence` omits findings that the page shows elsewhere. An unfinished stage is running, waiting or stopped,
    depending on the run.
    """
    by_step = costs.by_step if costs else {}
    return [
        _show(
            stage,
            by_step.get(Step(stage.name, stage.round, stage.refinement_id)),
            says_found=not (beside_evidence and _is_said_elsewhere(stage)),
            run_state=run_state,
        )
        for stage in stages
    ]


def _is_said_elsewhere(stage: Stage) -> bool:
    lists = stage.name == StageName.ENSEMBLE and stage.outcome == _ENSEMBLE_LISTS
    return lists or stage.name in _SAID_ELSEWHERE


_UNENDED = {
    Run.State.RUNNING.value: ("running", gettext_noop("running")),
    Run.State.QUEUED.value: ("queued", gettext_noop("waiting")),
}


def _show(stage: Stage, sums: Sums | None, *, says_found: bool, run_state: str) -> ShownStage:
    used = stage.input_tokens or stage.output_tokens
    state, outcome = stage.state, outcome_label(stage.name, stage.outcome)
    if state == Stage.State.RUNNING:
        state, words = _UNENDED.get(run_state, ("skipped", gettext_noop("stopped")))
        outcome = gettext(words)
    return ShownStage(
        state=state,
        name=stage_label(stage.name),
        round=stage.round,
        outcome=outcome,
        since=stage.started_at if state == Stage.State.RUNNING else None,
        found=stage.found.strip() if says_found else "",
        milliseconds=stage.milliseconds or None,
        tokens=f"{stage.input_tokens:,} + {stage.output_tokens:,}" if used else "",
        on_demand=stage.refinement_id is not None,
        sums=sums,
    )
