"""Tests that bounds include every possible final state of a study with open items, and that some state reaches them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import pytest

from pipeline.types import Arm, Verdict
from review.study import Criterion, GivenScore, Judged, Stage, pattern_of, work_out_figures
from review.study.types import FinalScore, ItemPattern, Recommended
from tests.first_cases import first_cases
from tests.review.study.drawn_items import random_item

_MOST_COMPLETIONS = 243


def pattern(judged: Judged) -> ItemPattern:
    return pattern_of(judged)


def values_left(final: FinalScore) -> tuple[int, ...]:
    """Return the final scores that a stage can still receive. The settled value of a criterion does not change."""
    if final is FinalScore.ABSENT:
        return ()
    return tuple(
        value
        for value in (0, 1, 2)
        if all(
            final.right(criterion) in (None, value >= criterion.least) for criterion in Criterion
        )
    )


def completions_of(judged: Judged) -> Iterator[ItemPattern]:
    """Yield the item with every stage settled, in each remaining way."""
    now = pattern(judged)
    # A refined script that is identical to the first script has the same score.
    stages = [Stage.SCRIPT, Stage.FEEDBACK] + ([] if judged.is_same else [Stage.REFINED])
    left = {stage: values_left(getattr(now, stage.value)) for stage in stages}
    there = [stage for stage in stages if left[stage]]
    for values in product(*(left[stage] for stage in there)):
        words = {(stage, Arm.MODEL): value for stage, value in zip(there, values, strict=True)}
        yield pattern(replace(judged, adjudicated=words))


def a_study_with_open_items(seed: int) -> list[list[ItemPattern]]:
    """Return the current pattern of each item in a small study, followed by every possible final pattern."""
    source = random.Random(seed)
    while True:
        items = [random_item(source) for _ in range(source.randint(2, 5))]
        ways = [[pattern(item), *dict.fromkeys(completions_of(item))] for item in items]
        count = 1
        for one in ways:
            count *= len(one) - 1
        if 1 < count <= _MOST_COMPLETIONS:
            return ways


def check(seed: int) -> int:
    """Compare a study's bounds with all its completions, and return the number of compared values."""
    ways = a_study_with_open_items(seed)
    figures = work_out_figures(Counter(one[0] for one in ways))
    reached: dict[tuple[Criterion, str], list[float]] = {}
    for study in product(*(one[1:] for one in ways)):
        for criterion, by_name in work_out_figures(Counter(study)).items():
            for name, figure in by_name.items():
                if figure.share.value is not None:
                    reached.setdefault((criterion, name), []).append(figure.share.value)
    for (criterion, name), values in reached.items():
        bounds = figures[criterion][name].bounds
        where = f"study {seed}, {criterion.value} {name}"
        assert bounds == pytest.approx((min(values), max(values)), abs=1e-12), where
    return sum(len(values) for values in reached.values())


@pytest.mark.parametrize(
    ("first", "last"), first_cases(1, [(0, 10), (10, 250), (250, 500), (500, 750), (750, 1_000)])
)
def test_bounds_are_the_ends_of_all_completions(first: int, last: int) -> None:
    assert all(check(seed) for seed in range(first, last))


def test_items_whose_run_is_not_over_are_open_in_every_figure() -> None:
    done = Judged(
        scores=(GivenScore(reviewer=1, stage=Stage.SCRIPT, value=2),),
        verdict=Verdict.CORRECT,
        recommended=Recommended.FIRST,
        has_refined=True,
    )
    patterns = Counter({pattern(done): 50, pattern(Judged(is_over=False)): 50})
    figures = work_out_figures(patterns)[Criterion.STRICT]

    for name in ("first_pass_accuracy", "assessor_agreement", "overall_as_recommended"):
        assert (figures[name].open, figures[name].bounds) == (50, (0.5, 1.0)), name
    assert figures["assessor_recall"].open == 50
    assert figures["net"].bounds == (-0.5, 0.5)


def test_of_a_scored_item_a_verdict_may_be_still_to_come() -> None:
    given = (GivenScore(reviewer=1, stage=Stage.SCRIPT, value=2),)
    known = Judged(scores=given, verdict=Verdict.CORRECT)
    patterns = Counter({pattern(known): 1, pattern(Judged(scores=given, is_over=False)): 1})
    agreement = work_out_figures(patterns)[Criterion.STRICT]["assessor_agreement"]

    assert (agreement.share.denominator, agreement.open, agreement.bounds) == (1, 1, (0.5, 1.0))


def test_a_later_round_that_is_recommended_is_open_as_long_as_it_has_no_score() -> None:
    refined = {"stage": Stage.REFINED, "reviewer": 1}
    scores = (
        GivenScore(reviewer=1, stage=Stage.SCRIPT, value=0),
        GivenScore(value=0, **refined),
        GivenScore(value=2, round=2, **refined),
    )
    item = Judged(
        scores=scores,
        verdict=Verdict.INCORRECT,
        has_refined=True,
        later=(None,),
        recommended=Recommended.OTHER,
        recommended_round=2,
    )
    found = [
        work_out_figures(Counter({pattern(one): 10}))[Criterion.STRICT]["overall_as_recommended"]
        for one in (item, replace(item, scores=scores[:2]))
    ]

    assert [(one.share.numerator, one.share.denominator, one.open) for one in found] == [
        (10, 10, 0),
        (0, 0, 10),
    ]
