"""The report as one JSON document, from counts: what `study_report --json`, page and API show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from review.study.agreement import Agreement, Cell, PairAgreement, Values, agreement_of
from review.study.criteria import Patterns
from review.study.figures import work_out_figures
from review.study.types import Stage


@dataclass(frozen=True, kw_only=True)
class ArmCounts:
    """The items of one Configuration; `is_demo` where the demo model had a part in them."""

    name: str
    patterns: Patterns
    is_demo: bool = False


@dataclass(frozen=True)
class StageCounts:
    """What reviewers gave at one stage, over all Configurations; each item's scores once."""

    values: Mapping[Values, int] = field(default_factory=dict)
    cells: Mapping[Cell, int] = field(default_factory=dict)


def study_report(
    campaign: str,
    arms: Sequence[ArmCounts],
    stages: Mapping[Stage, StageCounts],
    *,
    names: Mapping[int, str],
) -> dict[str, object]:
    """The whole report; `names` of reviewers by their key. Lists are in the order of names."""
    return {
        "campaign": campaign,
        "items": sum(sum(arm.patterns.values()) for arm in arms),
        "configurations": [report_arm(arm) for arm in sorted(arms, key=lambda arm: arm.name)],
        "agreement": {
            stage.value: report_agreement(_agreement(stages.get(stage, StageCounts())), names=names)
            for stage in Stage
        },
    }


def report_arm(arm: ArmCounts) -> dict[str, object]:
    """One Configuration's figures under both criteria."""
    report: dict[str, object] = {"name": arm.name}
    if arm.is_demo:
        report["demo"] = True
    for criterion, figures in work_out_figures(arm.patterns).items():
        report[criterion.value] = {name: figure.as_json() for name, figure in figures.items()}
    return report


def report_agreement(agreement: Agreement, *, names: Mapping[int, str]) -> dict[str, object]:
    """One stage's agreement; reviewers by name."""
    pairs = [_named(pair, names) for pair in agreement.pairs]
    return {
        **vars(agreement),
        "undefined": agreement.undefined or None,
        "pairs": sorted(pairs, key=lambda pair: (str(pair["a"]), str(pair["b"]))),
    }


def _agreement(counts: StageCounts) -> Agreement:
    return _agreement_of(frozenset(counts.values.items()), frozenset(counts.cells.items()))


# A score changes the agreement of its own stage; the other stages' is what it was a moment ago.
@lru_cache(maxsize=64)
def _agreement_of(
    values: frozenset[tuple[Values, int]], cells: frozenset[tuple[Cell, int]]
) -> Agreement:
    return agreement_of(dict(values), dict(sorted(cells)))


def _named(pair: PairAgreement, names: Mapping[int, str]) -> dict[str, object]:
    """The pair with names, in their order; every measure is the same either way."""
    a, b = sorted((names[pair.a], names[pair.b]))
    return {**vars(pair), "a": a, "b": b}
