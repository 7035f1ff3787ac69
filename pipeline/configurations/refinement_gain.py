"""Measure the gain of each refinement round by the assessor's verdict, without an expert's judgment.

For a run, the gain is the verdict after each round. For a configuration or batch, it is the number of runs that passed
after each round, with the cost. Only drafts of the run itself count. Drafts made on demand, by a user or from cases are
measured separately.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from django.db.models import Count, Q, QuerySet, Sum

from pipeline.costs.run_costs import RunCosts
from pipeline.costs.services import Sums
from pipeline.models import Assessment, Attempt, Batch, Configuration, Draft, Run
from pipeline.types import DraftKind, Verdict

MOST_RUNS = 1_000  # only the newest finished runs, so that the page stays fast


class Change(StrEnum):
    """The change from the previous round's verdict to a round's verdict."""

    NONE = "none"
    PASSED = "passed"
    FLAGGED = "flagged"
    LOST = "lost"  # the new verdict is unreadable


@dataclass(frozen=True)
class RunRound:
    """One round of a run: its draft, verdict, change and cost."""

    round: int
    draft: Draft
    verdict: str
    change: Change
    sums: Sums


@dataclass(frozen=True)
class RoundGain:
    """One round of multiple runs. `passed` counts all runs, including runs that had already stopped."""

    round: int
    reached: int
    passed: int
    newly_passed: int
    newly_flagged: int
    unknown: int
    sums: Sums

    @property
    def mean_cost(self) -> int | None:
        """Return the average cost in micro-dollars of runs that reached the round, or None if a price is missing."""
        return None if self.sums.unpriced or not self.reached else self.sums.cost // self.reached

    @property
    def mean_milliseconds(self) -> int:
        """Return the average model time of runs that reached the round."""
        return self.sums.milliseconds // self.reached if self.reached else 0


@dataclass(frozen=True)
class Gain:
    """The rounds of the newest finished runs, up to MOST_RUNS runs."""

    runs: int
    demo: bool
    is_cut: bool
    rounds: Sequence[RoundGain]


def rounds_of(drafts: Sequence[Draft], costs: RunCosts) -> list[RunRound]:
    """Return the rounds of a run, with the first script as round 0. `drafts` are the run's own drafts, with their
    assessments.
    """
    rounds: list[RunRound] = []
    for draft in assessed_in_turn(drafts):
        verdict = draft.assessment.verdict
        before = rounds[-1].verdict if rounds else verdict
        sums = costs.of_round(draft.round)
        rounds.append(RunRound(draft.round, draft, verdict, _change(before, verdict), sums))
    return rounds


def assessed_in_turn(drafts: Sequence[Draft]) -> list[Draft]:
    """Return the drafts that were assessed during the run itself, one for each round."""
    own = (
        draft
        for draft in drafts
        if draft.refinement_id is None
        and draft.author_id is None
        and draft.kind != DraftKind.REVISED
    )
    return sorted(
        (draft for draft in own if hasattr(draft, "assessment")), key=lambda draft: draft.round
    )


def gain_of(configuration: Configuration | None = None, *, batch: Batch | None = None) -> Gain:
    """Return the gain of each round for a configuration, a batch, or both, in three queries."""
    wanted = Q(state=Run.State.DONE) & ~Q(verdict="")
    wanted &= Q(configuration=configuration) if configuration else Q()
    wanted &= Q(batch=batch) if batch else Q()
    newest = Run.objects.filter(wanted).order_by("-pk")[: MOST_RUNS + 1]
    demo = dict(newest.values_list("pk", "demo"))
    keys = list(demo)[:MOST_RUNS]
    verdicts = _verdicts_of(keys)
    sums = _sums_of(keys)
    last = max((max(rounds) for rounds in verdicts.values()), default=-1)
    return Gain(
        runs=len(verdicts),
        demo=any(demo[key] for key in keys),
        is_cut=len(demo) > MOST_RUNS,
        rounds=[
            count_round(number, list(verdicts.values()), sums.get(number, Sums()))
            for number in range(last + 1)
        ],
    )


def count_round(number: int, runs: Sequence[Mapping[int, str]], sums: Sums) -> RoundGain:
    """Count the verdicts after a round. `runs` contains each run's verdicts by round."""
    reached = [run for run in runs if number in run]
    changes = [_change(_standing(run, number - 1), run[number]) for run in reached if number > 0]
    return RoundGain(
        round=number,
        reached=len(reached),
        passed=sum(_standing(run, number) == Verdict.CORRECT for run in runs),
        newly_passed=changes.count(Change.PASSED),
        newly_flagged=changes.count(Change.FLAGGED),
        unknown=sum(run[number] == Verdict.UNKNOWN for run in reached),
        sums=sums,
    )


def _standing(run: Mapping[int, str], number: int) -> str:
    """Return a run's latest verdict up to a round, even if the run stopped earlier."""
    return run[max(round for round in run if round <= number)]


def _change(before: str, after: str) -> Change:
    if before == after:
        return Change.NONE
    return {
        Verdict.CORRECT.value: Change.PASSED,
        Verdict.INCORRECT.value: Change.FLAGGED,
    }.get(after, Change.LOST)


def _verdicts_of(keys: Sequence[int]) -> dict[int, dict[int, str]]:
    """Return the verdict of each round of each run, excluding runs without a first verdict."""
    found: dict[int, dict[int, str]] = {}
    own = Assessment.objects.filter(
        draft__run__in=keys, draft__refinement=None, draft__author=None
    ).exclude(draft__kind=DraftKind.REVISED.value)
    rows = own.values_list("draft__run", "draft__round", "verdict")
    for run, round, verdict in rows:
        found.setdefault(run, {})[round] = verdict
    return {run: rounds for run, rounds in found.items() if 0 in rounds}


def _sums_of(keys: Sequence[int]) -> dict[int, Sums]:
    """Return the total usage in each round, without refinements on demand."""
    answered = Q(outcome=Attempt.Outcome.ANSWERED)
    tries: QuerySet[Attempt] = Attempt.objects.filter(
        call__run__in=keys, call__refinement=None, ended_at__isnull=False
    )
    rows = (
        tries.order_by()
        .values_list("call__round")
        .annotate(
            tries=Count("pk"),
            unpriced=Count("pk", filter=answered & Q(cost=None)),
            paid=Sum("cost", default=0),
            worked=Sum("milliseconds", default=0),
        )
    )
    return {
        round: Sums(attempts=tries, unpriced=unpriced, cost=paid, milliseconds=worked)
        for round, tries, unpriced, paid, worked in rows
    }
