"""Measure the gain of refinement from cases: the passed checks, both shown to the model and held out.

These numbers are not part of the figures for refinement by feedback. The held-out checks show whether a refinement
generalizes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from catalog.execution.cases import read_case_set
from catalog.models import CaseSet, CheckState, Execution
from pipeline.flow.case_words import held_back
from pipeline.models import Configuration, Draft, Stage, WrittenCases
from pipeline.types import DraftKind, StageName

MOST_RUNS = 200  # only the newest runs, because each run loads its cases
_JUDGED = (CheckState.PASSED, CheckState.FAILED)


@dataclass(frozen=True)
class Held:
    """The numbers of checks that passed before and after refinement. Only checks with both results count."""

    checks: int = 0
    before: int = 0
    after: int = 0

    def plus(self, before: bool, after: bool) -> Held:
        return Held(self.checks + 1, self.before + before, self.after + after)


@dataclass(frozen=True)
class CaseGain:
    """The gain in the newest runs with a Draft refined from cases, up to MOST_RUNS runs."""

    runs: int
    offered: int  # Drafts that were offered as better scripts
    told: Held
    held_back: Held


def case_gain_of(configuration: Configuration) -> CaseGain | None:
    """Return the gain for a configuration in five queries, or None if no run has a Draft refined from cases."""
    drafts = list(
        Draft.objects.filter(run__configuration=configuration, kind=DraftKind.REVISED.value)
        .select_related("parent")
        .order_by("-pk")[:MOST_RUNS]
    )
    if not drafts:
        return None
    case_sets = _last_cases([draft.run_id for draft in drafts])
    verdicts = _verdicts(drafts, case_sets)
    told = hidden = Held()
    for draft in drafts:
        case_set = case_sets.get(draft.run_id)
        if case_set is None or draft.parent is None:
            continue
        secret = held_back(read_case_set(json.dumps(case_set.content), is_kept=True))
        befores = verdicts.get((draft.parent.sha256, case_set.pk), {})
        afters = verdicts.get((draft.sha256, case_set.pk), {})
        # Never compare results from different kinds of machines.
        machine = next((one for one in reversed(afters) if one in befores), None)
        if machine is None:
            continue
        before, after = befores[machine], afters[machine]
        for place in before.keys() & after.keys():
            if place[0] in secret:
                hidden = hidden.plus(before[place], after[place])
            else:
                told = told.plus(before[place], after[place])
    return CaseGain(
        runs=len(drafts),
        offered=Stage.objects.filter(
            draft__in=drafts, name=StageName.RECOMMEND.value, outcome="offered"
        ).count(),
        told=told,
        held_back=hidden,
    )


def _last_cases(runs: list[int]) -> dict[int, CaseSet]:
    """Return the final cases of each run."""
    rows = WrittenCases.objects.filter(run__in=runs).select_related("case_set").order_by("number")
    return {row.run_id: row.case_set for row in rows}


def _verdicts(
    drafts: list[Draft], case_sets: Mapping[int, CaseSet]
) -> dict[tuple[str, int], dict[str, dict[tuple[int, int], bool]]]:
    """Return whether each check passes, by script, case set and kind of machine. The newest result counts."""
    hashes = {draft.sha256 for draft in drafts}
    hashes |= {draft.parent.sha256 for draft in drafts if draft.parent is not None}
    found = (
        Execution.objects.filter(script_sha256__in=hashes, case_set__in=case_sets.values())
        .defer("document")
        .prefetch_related("checks")
        .order_by("last_at", "pk")
    )
    verdicts: dict[tuple[str, int], dict[str, dict[tuple[int, int], bool]]] = {}
    for one in found:
        by_machine = verdicts.setdefault((one.script_sha256, one.case_set_id), {})
        by_machine.pop(one.fingerprint_sha256, None)
        by_machine[one.fingerprint_sha256] = {
            (check.case_number, check.number): check.state == CheckState.PASSED
            for check in one.checks.all()
            if check.state in _JUDGED
        }
    return verdicts
