"""The report as a JSON document for `study_report --json`, the page and the API, generated from counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from review.study.agreement import (
    Agreement,
    Leaning,
    PairAgreement,
    PairCells,
    StageCounts,
    Values,
    agreement_of,
)
from review.study.criteria import Patterns
from review.study.figures import Clusters, work_out_figures
from review.study.types import Stage


@dataclass(frozen=True, kw_only=True)
class ArmCounts:
    """The items of one Configuration. `is_demo` is set if the demo model was used for any item.

    `clusters` are the statements with more than one item, and `stages` are the reviewers' scores.
    """

    name: str
    patterns: Patterns
    clusters: Clusters = field(default_factory=dict)
    stages: Mapping[Stage, StageCounts] = field(default_factory=dict)
    is_demo: bool = False


def study_report(
    campaign: str,
    arms: Sequence[ArmCounts],
    stages: Mapping[Stage, StageCounts],
    *,
    names: Mapping[int, str],
    every: bool = False,
) -> dict[str, object]:
    """Return the complete report. `names` maps reviewers' keys to names. Lists are sorted by name.

    `stages` contains the scores of all Configurations. With many reviewers, intervals of pairs are calculated only if
    `every` is set.
    """
    return {
        "campaign": campaign,
        "items": sum(sum(arm.patterns.values()) for arm in arms),
        "configurations": [
            report_arm(arm, names=names, every=every)
            for arm in sorted(arms, key=lambda arm: arm.name)
        ],
        "agreement": report_stages(stages, names=names, every=every),
    }


def report_arm(
    arm: ArmCounts, *, names: Mapping[int, str], every: bool = False
) -> dict[str, object]:
    """Return a Configuration's figures under both criteria, and its agreement."""
    report: dict[str, object] = {"name": arm.name}
    if arm.is_demo:
        report["demo"] = True
    for criterion, figures in work_out_figures(arm.patterns, arm.clusters).items():
        report[criterion.value] = {name: figure.as_json() for name, figure in figures.items()}
    report["agreement"] = report_stages(arm.stages, names=names, every=every)
    return report


def report_stages(
    stages: Mapping[Stage, StageCounts], *, names: Mapping[int, str], every: bool = False
) -> dict[str, object]:
    """Return the agreement of each stage."""
    return {
        stage.value: report_agreement(
            _agreement(stages.get(stage, StageCounts()), every=every), names=names
        )
        for stage in Stage
    }


def report_agreement(agreement: Agreement, *, names: Mapping[int, str]) -> dict[str, object]:
    """Return a stage's agreement as JSON, with the names of reviewers instead of their keys."""
    pairs = [_named(pair, names) for pair in agreement.pairs]
    leniency = [{**vars(one), "reviewer": names[one.reviewer]} for one in agreement.leniency]
    return {
        **vars(agreement),
        "no_interval": agreement.no_interval or None,
        "undefined": agreement.undefined or None,
        "pairs": sorted(pairs, key=lambda pair: (str(pair["a"]), str(pair["b"]))),
        "leniency": sorted(leniency, key=lambda one: str(one["reviewer"])),
    }


def _agreement(counts: StageCounts, *, every: bool) -> Agreement:
    return _agreement_of(
        frozenset(counts.values.items()),
        frozenset(counts.pairs.items()),
        frozenset(counts.leanings.items()),
        frozenset(counts.statements.items()),
        every,
    )


# Cached, because a score changes only the agreement of its own stage.
@lru_cache(maxsize=64)
def _agreement_of(
    values: frozenset[tuple[tuple[Values, ...], int]],
    pairs: frozenset[tuple[PairCells, int]],
    leanings: frozenset[tuple[Leaning, int]],
    statements: frozenset[tuple[tuple[PairCells, ...], int]],
    every: bool,
) -> Agreement:
    # Resampling depends on the order of the values. `agreement_of` sorts the other counts if their order matters.
    counts = StageCounts(dict(sorted(values)), dict(pairs), dict(leanings), dict(statements))
    return agreement_of(counts, every=every)


def _named(pair: PairAgreement, names: Mapping[int, str]) -> dict[str, object]:
    """Return the pair as JSON, with its names in alphabetical order. All measures are symmetric."""
    a, b = sorted((names[pair.a], names[pair.b]))
    return {**vars(pair), "a": a, "b": b}
