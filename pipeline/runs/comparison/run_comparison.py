"""Comparison of runs of one Action: the differences between their settings, and their results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db.models import Count, Prefetch, Q, Sum
from django.utils.translation import gettext as _

from catalog.analysis import Coverage, level_place, not_judged_in
from core.errors import BadInput
from pipeline.access import VisibleParts, access_runs, shown_state, visible_parts
from pipeline.execution.draft_checks import (
    coverage_of_draft,
    is_current,
    is_current_assessment,
    prompts_in_use,
)
from pipeline.flow.stages import order_of
from pipeline.models import Action, Attempt, Draft, DraftFinding, Feedback, Run, Stage
from pipeline.runs.comparison.setting_differences import Difference, differences_of
from pipeline.runs.list_rows import duration_of
from pipeline.types import StageName

LEAST_RUNS, MOST_RUNS = 2, 4


@dataclass(frozen=True)
class Used:
    """The usage of model calls. `cost` is in micro-dollars, or None if a price is unknown."""

    calls: int = 0
    input: int = 0
    output: int = 0
    cost: int | None = 0

    def __add__(self, other: Used) -> Used:
        known = self.cost is not None and other.cost is not None
        return Used(
            calls=self.calls + other.calls,
            input=self.input + other.input,
            output=self.output + other.output,
            cost=(self.cost or 0) + (other.cost or 0) if known else None,
        )


@dataclass(frozen=True)
class ComparedRun:
    """A run with the values that the user may see. `draft` is the compared script."""

    run: Run
    parts: VisibleParts
    draft: Draft | None
    drafts: int
    feedbacks: Sequence[Feedback]
    used: Used

    @property
    def state(self) -> str:
        """Return the run's state as the user may see it."""
        return shown_state(self.run, self.parts)

    @property
    def milliseconds(self) -> int | None:
        """Return the time from the start of work to the run's end, or None if it is hidden."""
        return duration_of(self.run) if self.parts.verdict else None

    @property
    def code_id(self) -> str:
        """Return the HTML id of the run's script on the page."""
        return f"run-{self.run.pk}-code"

    @property
    def problems(self) -> list[DraftFinding]:
        """Return the findings in the compared script."""
        return _problems_of(self.draft)

    @property
    def not_judged(self) -> list[str]:
        """Return the parts of the compared script that the static checks could not evaluate."""
        draft = self.draft
        found = draft.findings.all() if draft else ()
        return not_judged_in(one for one in found if draft and is_current(one, draft))

    @property
    def coverage(self) -> Coverage | None:
        """Return how many lines of the compared script were analyzed."""
        return coverage_of_draft(self.draft) if self.draft else None

    @property
    def is_assessment_current(self) -> bool:
        """Return whether the script was assessed with the current prompts."""
        found = getattr(self.draft, "assessment", None)
        in_use = prompts_in_use(self.run.configuration)
        return found is not None and is_current_assessment(found, found.draft, in_use)

    @property
    def findings(self) -> dict[str, int]:
        """Return the number of findings per level, most severe first."""
        counts = Counter(found.level for found in self.problems)
        return {level: counts[level] for level in sorted(counts, key=level_place)}


@dataclass(frozen=True)
class StageCell:
    """A stage in one run."""

    stage: Stage
    used: Used


@dataclass(frozen=True)
class StageLine:
    """One stage of one round, with a cell for each run. A cell is None if the run did not reach the stage."""

    name: str
    round: int
    cells: Sequence[StageCell | None]


@dataclass(frozen=True)
class Comparison:
    """Two to four runs of one Action. `differences` is None if the user may not see them."""

    action: Action
    runs: Sequence[ComparedRun]
    differences: Sequence[Difference] | None
    stages: Sequence[StageLine]

    @property
    def is_active(self) -> bool:
        """Return whether a run is still in progress."""
        return any(one.state in (Run.State.QUEUED, Run.State.RUNNING) for one in self.runs)

    @property
    def is_same_script(self) -> bool:
        """Return whether every run has a visible script and all scripts are identical."""
        hashes = {one.draft.sha256 if one.draft else "" for one in self.runs}
        return len(hashes) == 1 and "" not in hashes


def compare_runs(
    action: Action, keys: Sequence[int], *, by: User, of_first: bool = False
) -> Comparison:
    """Compare these runs of the Action in this order, in a fixed number of queries.

    Compares the recommended Drafts or, with `of_first`, the first Drafts. Raises BadInput unless there are two to four
    runs of this Action.
    """
    keys = list(dict.fromkeys(keys))
    if not LEAST_RUNS <= len(keys) <= MOST_RUNS:
        raise BadInput(
            _("Choose %(least)d to %(most)d runs to compare.")
            % {"least": LEAST_RUNS, "most": MOST_RUNS},
            field="run",
        )
    found = {run.pk: run for run in _fetch(action, keys, by)}
    if len(found) < len(keys):
        raise BadInput(
            _("These runs belong to different requests. Choose runs of the same request."),
            field="run",
        )
    runs = [found[key] for key in keys]
    parts = [visible_parts(by, run) for run in runs]
    used = _used_by(runs)
    compared = [
        _describe(run, seen, used, of_first=of_first) for run, seen in zip(runs, parts, strict=True)
    ]
    return Comparison(
        action=action,
        runs=compared,
        differences=differences_of(runs) if all(seen.models for seen in parts) else None,
        stages=_lines(compared, used),
    )


def _fetch(action: Action, keys: Sequence[int], user: User) -> Iterable[Run]:
    drafts = Draft.objects.select_related("assessment").prefetch_related("findings")
    # Refinements requested after the run do not belong to the configuration.
    stages = Stage.objects.filter(refinement=None)
    return (
        access_runs(user)
        .filter(action=action, pk__in=keys)
        .prefetch_related(Prefetch("drafts", drafts), Prefetch("stages", stages))
        .prefetch_related("drafts__feedbacks__author")
    )


def _describe(
    run: Run, parts: VisibleParts, used: Mapping[_StageKey, Used], *, of_first: bool
) -> ComparedRun:
    drafts = list(run.drafts.all()) if parts.verdict else []
    draft = _draft_of(run, drafts, of_first=of_first)
    mine = [spent for (pk, _name, _round), spent in used.items() if pk == run.pk]
    return ComparedRun(
        run=run,
        parts=parts,
        draft=draft,
        drafts=len(drafts),
        feedbacks=[given for one in drafts for given in one.feedbacks.all()],
        used=sum(mine, Used()) if parts.verdict else Used(),
    )


def _draft_of(run: Run, drafts: Sequence[Draft], *, of_first: bool) -> Draft | None:
    if of_first:
        assessed = (draft for draft in drafts if hasattr(draft, "assessment"))
        return next(assessed, next(iter(drafts), None))
    return next((draft for draft in drafts if draft.pk == run.recommended_id), None)


def _problems_of(draft: Draft | None) -> list[DraftFinding]:
    if draft is None:
        return []
    return [
        found
        for found in draft.findings.all()
        if found.outcome == "failed" and is_current(found, draft)
    ]


# --- Stages and usage ---------------------------------------------------------------------------------------------

_StageKey = tuple[int, str, int]  # run, stage, round


def _used_by(runs: Sequence[Run]) -> dict[_StageKey, Used]:
    sums = (
        Attempt.objects.filter(call__run__in=runs, call__refinement=None)
        .values_list("call__run_id", "call__stage", "call__round")
        .annotate(
            calls=Count("call", distinct=True),
            input=Sum("input_tokens"),
            output=Sum("output_tokens"),
            known_cost=Sum("cost"),
            unpriced=Count("pk", filter=Q(outcome=Attempt.Outcome.ANSWERED, cost=None)),
        )
        .order_by()
    )
    return {
        (run, stage, round): Used(calls, input or 0, output or 0, None if unpriced else cost or 0)
        for run, stage, round, calls, input, output, cost, unpriced in sums
    }


def _lines(compared: Sequence[ComparedRun], used: Mapping[_StageKey, Used]) -> list[StageLine]:
    seen = [
        {(stage.name, stage.round): stage for stage in one.run.stages.all()}
        if one.parts.verdict
        else {}
        for one in compared
    ]
    keys_in_order = sorted({place for stages in seen for place in stages}, key=_order_in_time)
    return [
        StageLine(
            name,
            round,
            [
                StageCell(stages[name, round], used.get((one.run.pk, name, round), Used()))
                if (name, round) in stages
                else None
                for one, stages in zip(compared, seen, strict=True)
            ],
        )
        for name, round in keys_in_order
    ]


def _order_in_time(place: tuple[str, int]) -> tuple[bool, int, int]:
    """Return a sort key that puts the recommendation last, regardless of its Draft's round."""
    name, round = place
    return name == StageName.RECOMMEND, round, order_of(name)
