"""JSON parts of the report about one Configuration, and about two compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict

from pipeline.models import Configuration
from pipeline.types import Role
from review.counting.tallies import Counts
from review.study import Criterion, ItemPattern, Stage, Standing, compare
from review.study.agreement import Cell, Values
from review.study.report import StageCounts
from review.study.tables import (
    AssessorCard,
    bound_skipped,
    draw_up_card,
    tabulate_expert,
    tabulate_gain,
    tabulate_lengths,
    tabulate_retrieved,
)
from review.study.types import Origin, Recommended

Part = dict[str, object]
NEVER_ASSESSED = "never_assessed"


def describe_arm(configuration: Configuration, counts: Counts) -> Part:
    """What the report says of one Configuration besides its figures."""
    reduced = _reduce(counts.items)
    return {
        "name": configuration.name,
        "title": configuration.title,
        "demo": counts.sums["demo"] > 0,
        "models": {one.role: one.model for one in configuration.roles.all()},
        "assessor": name_review(configuration),
        "items": _count_standings(counts.items),
        "time": {"items": counts.sums["timed"], "seconds": counts.sums["seconds"]},
        **{one.value: _tabulate(reduced, one) for one in Criterion},
    }


def name_review(configuration: Configuration) -> str:
    """Whether generator and assessor are the same model: self or peer; empty where that is not known."""
    played = {one.role: (one.endpoint_id, one.model) for one in configuration.roles.all()}
    generator, assessor = played.get(Role.GENERATOR.value), played.get(Role.ASSESSOR.value)
    if generator is None or assessor is None:
        return ""
    return "self" if generator == assessor else "peer"


def compare_arms(joint: Mapping[tuple[ItemPattern, ItemPattern], int]) -> Part:
    """Every compared figure of two Configurations, under both criteria."""
    return {
        criterion.value: {
            name: asdict(one.change) | {"left_out": one.left_out}
            for name, one in compare(joint, criterion).items()
        }
        for criterion in Criterion
    }


def join_stages(counts: Iterable[Counts]) -> dict[Stage, StageCounts]:
    """What reviewers gave at each stage, over all Configurations."""
    values: dict[Stage, Counter[Values]] = {stage: Counter() for stage in Stage}
    cells: dict[Stage, Counter[Cell]] = {stage: Counter() for stage in Stage}
    for one in counts:
        for stage in Stage:
            values[stage].update(one.values[stage])
            cells[stage].update(one.pairs[stage])
    return {stage: StageCounts(values[stage], cells[stage]) for stage in Stage}


def _count_standings(patterns: Mapping[ItemPattern, int]) -> Part:
    """Items by how their script's score stands; retrieved ones apart, for they are in no model figure."""
    made = {key: times for key, times in patterns.items() if key.origin is not Origin.RETRIEVED}
    standings: Counter[Standing] = Counter()
    for pattern, times in made.items():
        standings[pattern.script] += times
    return {
        "all": sum(patterns.values()),
        "scored": sum(standings[one] for one in Standing if one.value in "012"),
        "pending": standings[Standing.PENDING],
        "unresolved": standings[Standing.UNRESOLVED],
        "unscored": standings[Standing.UNSCORED],
        "failed": sum(n for key, n in made.items() if key.origin is Origin.FAILED),
        "retrieved": sum(patterns.values()) - sum(made.values()),
    }


def _reduce(patterns: Mapping[ItemPattern, int]) -> Counter[ItemPattern]:
    """The same items without what the tables do not ask for, so that fewer patterns are to be gone through."""
    reduced: Counter[ItemPattern] = Counter()
    for pattern, times in patterns.items():
        alike = pattern._replace(execution=None, execution_reason="", recommended=Recommended.NONE)
        reduced[alike] += times
    return reduced


def _tabulate(patterns: Mapping[ItemPattern, int], criterion: Criterion) -> Part:
    at_worst, at_best = bound_skipped(patterns, criterion)
    return {
        "assessor": _card_as_json(draw_up_card(patterns, criterion)),
        "expert": asdict(tabulate_expert(patterns, criterion)),
        "expert_by_all": asdict(tabulate_expert(patterns, criterion, with_authors=True)),
        "gain": [asdict(row) for row in tabulate_gain(patterns, criterion)],
        "lengths": [asdict(row) for row in tabulate_lengths(patterns, criterion)],
        "retrieved": tabulate_retrieved(patterns, criterion).as_json(),
        "skipped": {"wrong": at_worst.as_json(), "right": at_best.as_json()},
    }


def _card_as_json(card: AssessorCard) -> Part:
    return {
        "right": {verdict or NEVER_ASSESSED: n for verdict, n in card.right.items()},
        "wrong": {verdict or NEVER_ASSESSED: n for verdict, n in card.wrong.items()},
        "missed": card.missed.as_json(),
        "false_alarms": card.false_alarms.as_json(),
    }
