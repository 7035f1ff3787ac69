"""JSON parts of the report about one Configuration or a pair of Configurations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict

from pipeline.models import Configuration
from pipeline.types import Role
from review.counting.contributions import NOT_BLIND
from review.counting.counts import Counts
from review.counting.first_quarter import read_without_first_quarter
from review.models import Campaign
from review.study import Criterion, FinalScore, ItemPattern, compare, work_out_figures
from review.study.compare import Joint
from review.study.figures import Clusters
from review.study.gain import tabulate_gain
from review.study.tables import (
    AssessorCard,
    bound_skipped,
    draw_up_card,
    tabulate_expert,
    tabulate_lengths,
    tabulate_retrieved,
)
from review.study.types import Origin, Recommended

Part = dict[str, object]
NEVER_ASSESSED = "never_assessed"


def describe_arm(configuration: Configuration, counts: Counts) -> Part:
    """Return the report's data about one Configuration, without its figures."""
    reduced = _reduce(counts.items)
    return {
        "name": configuration.name,
        "title": configuration.title,
        "demo": counts.sums["demo"] > 0,
        "models": {one.role: one.model for one in configuration.roles.all()},
        "assessor": name_review(configuration),
        "items": _count_final_scores(counts.items),
        "time": {"items": counts.sums["timed"], "seconds": counts.sums["seconds"]},
        **{one.value: _tabulate(reduced, counts.clusters, one) for one in Criterion},
    }


def name_review(configuration: Configuration) -> str:
    """Return "self" if generator and assessor are the same model, "peer" if not, and "" if unknown."""
    played = {one.role: (one.endpoint_id, one.model) for one in configuration.roles.all()}
    generator, assessor = played.get(Role.GENERATOR.value), played.get(Role.ASSESSOR.value)
    if generator is None or assessor is None:
        return ""
    return "self" if generator == assessor else "peer"


def compare_two(
    campaign: Campaign, first: Configuration, second: Configuration, joint: Joint
) -> Part:
    """Compare two Configurations. `joint` contains pairs in the order of the arguments.

    The primary pair always has the order that was chosen before the campaign opened.
    """
    named = (campaign.primary_first_id, campaign.primary_second_id)
    is_turned = named == (second.pk, first.pk)
    if is_turned:
        first, second = second, first
    return {"first": first.name, "second": second.name} | compare_arms(joint, is_turned=is_turned)


def compare_arms(joint: Joint, *, is_turned: bool = False) -> Part:
    """Compare every figure of two Configurations under both criteria. `is_turned` swaps the Configurations."""
    if is_turned:
        joint = {
            tuple((after, before) for before, after in cases): times
            for cases, times in joint.items()
        }
    return {
        criterion.value: {name: one.as_json() for name, one in compare(joint, criterion).items()}
        for criterion in Criterion
    }


def describe_readings(counts: Counts) -> dict[str, Part]:
    """Return the figures under alternative rules for the deciding scores, by reading.

    Readings that change no item are omitted.
    """
    found: dict[str, Part] = {}
    for reading, changed in counts.readings.items():
        if any(changed.values()):
            found[reading.value] = _figures_as_json(
                counts.read_as(reading), counts.clusters_as(reading)
            )
    return found


def describe_without_first_quarter(
    campaign: Campaign, arms: Iterable[tuple[Configuration, Counts]]
) -> Part | None:
    """Return the figures without the first quarter of each reviewer's scores, by Configuration.

    Configurations without changes are omitted. Return None if the campaign is too large for this calculation.
    """
    found = read_without_first_quarter(campaign)
    if found is None:
        return None
    return {
        arm.name: _figures_as_json(found[arm.pk].items, found[arm.pk].clusters)
        for arm, _counts in arms
        if arm.pk in found
    }


def _figures_as_json(patterns: Mapping[ItemPattern, int], clusters: Clusters) -> Part:
    return {
        criterion.value: {name: one.as_json() for name, one in under.items()}
        for criterion, under in work_out_figures(patterns, clusters).items()
    }


def list_not_blind(configuration: Configuration, counts: Counts) -> list[Part]:
    """Return the numbers of scores that are excluded because they are not blind, by stage, verdict and value."""
    found: list[Part] = []
    for key, scores in sorted(counts.sums.items()):
        if key.startswith(NOT_BLIND) and scores:
            stage, verdict, value = key.removeprefix(NOT_BLIND).split(":")
            found.append(
                {
                    "configuration": configuration.name,
                    "stage": stage,
                    "verdict": verdict or NEVER_ASSESSED,
                    "value": int(value),
                    "scores": scores,
                }
            )
    return found


def _count_under(patterns: Mapping[ItemPattern, int], criterion: Criterion) -> Part:
    """Return the number of items with a final script score under the criterion, and the number of unresolved items."""
    made = [one for one in patterns.items() if one[0].origin is not Origin.RETRIEVED]
    open_ = [(one.script, times) for one, times in made if one.script.right(criterion) is None]
    return {
        "scored": sum(times for _one, times in made) - sum(times for _one, times in open_),
        "unresolved": sum(times for one, times in open_ if one.needs_adjudicator),
    }


def _count_final_scores(patterns: Mapping[ItemPattern, int]) -> Part:
    """Count items by the state of the script score.

    Retrieved items are counted separately, because no model figure includes them.
    """
    made = {key: times for key, times in patterns.items() if key.origin is not Origin.RETRIEVED}
    final_scores: Counter[FinalScore] = Counter()
    for pattern, times in made.items():
        final_scores[pattern.script] += times
    return {
        "all": sum(patterns.values()),
        # Final under at least one criterion. `_count_under` counts the items under a specific criterion.
        "scored": sum(
            times
            for one, times in final_scores.items()
            if any(one.right(criterion) is not None for criterion in Criterion)
        ),
        "pending": final_scores[FinalScore.PENDING],
        "unresolved": sum(times for one, times in final_scores.items() if one.needs_adjudicator),
        "unscored": final_scores[FinalScore.UNSCORED],
        "failed": sum(n for key, n in made.items() if key.origin is Origin.FAILED),
        "retrieved": sum(patterns.values()) - sum(made.values()),
    }


def _reduce(patterns: Mapping[ItemPattern, int]) -> Counter[ItemPattern]:
    """Merge patterns that differ only in data that the tables do not use, to process fewer patterns."""
    reduced: Counter[ItemPattern] = Counter()
    for pattern, times in patterns.items():
        alike = pattern._replace(
            execution=None,
            execution_reason="",
            recommended=Recommended.NONE,
            advised=FinalScore.ABSENT,
        )
        reduced[alike] += times
    return reduced


def _tabulate(
    patterns: Mapping[ItemPattern, int], clusters: Clusters, criterion: Criterion
) -> Part:
    at_worst, at_best = bound_skipped(patterns, criterion, clusters)
    by_all = tabulate_expert(patterns, criterion, clusters, with_authors=True)
    return {
        "items": _count_under(patterns, criterion),
        "assessor": _card_as_json(draw_up_card(patterns, criterion, clusters)),
        "expert": asdict(tabulate_expert(patterns, criterion, clusters)),
        "expert_by_all": asdict(by_all),
        "gain": [row.as_json() for row in tabulate_gain(patterns, criterion, clusters)],
        "lengths": [asdict(row) for row in tabulate_lengths(patterns, criterion, clusters)],
        "retrieved": tabulate_retrieved(patterns, criterion, clusters).as_json(),
        "skipped": {"wrong": at_worst.as_json(), "right": at_best.as_json()},
    }


def _card_as_json(card: AssessorCard) -> Part:
    return {
        "right": {verdict or NEVER_ASSESSED: n for verdict, n in card.right.items()},
        "wrong": {verdict or NEVER_ASSESSED: n for verdict, n in card.wrong.items()},
        "missed": card.missed.as_json(),
        "false_alarms": card.false_alarms.as_json(),
    }
