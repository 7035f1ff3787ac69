"""Two Configurations on the same cases."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.types import Verdict
from review.study import Criterion, GivenScore, ItemPattern, Judged, Stage, compare, pattern_of
from review.study.compare import COMPARED, reduce_pattern
from review.study.types import Origin, Recommended
from tests.review.study.plain import judged_items

STRICT = Criterion.STRICT
Joint = Counter[tuple[ItemPattern, ItemPattern]]


def item(script: int, refined: int | None = None, **rest) -> Judged:  # type: ignore[no-untyped-def]
    scores = [GivenScore(reviewer=1, stage=Stage.SCRIPT, value=script)]
    if refined is not None:
        scores.append(GivenScore(reviewer=1, stage=Stage.REFINED, value=refined))
    return Judged(scores=tuple(scores), **rest)


def joint(*cases: tuple[Judged, Judged]) -> Joint:
    pairs = [(pattern_of(first), pattern_of(second)) for first, second in cases]
    return Counter((first, second) for first, second in pairs if first and second)


def test_only_cases_final_in_both_are_compared() -> None:
    split = Judged(
        scores=tuple(
            GivenScore(reviewer=value, stage=Stage.SCRIPT, value=value) for value in (0, 2)
        )
    )
    found = compare(
        joint(
            *[(item(0), item(2))] * 6,
            (item(2), item(0)),
            *[(item(2), item(2))] * 3,
            (item(2), Judged()),
            (split, item(2)),
            (item(2, origin=Origin.RETRIEVED), item(2)),
        ),
        STRICT,
    )["first_pass_accuracy"]

    assert (found.change.gained, found.change.lost, found.change.items) == (6, 1, 10)
    assert found.change.value == 0.5
    assert found.change.p_value == pytest.approx(0.125)
    assert found.left_out == 3


def test_a_refined_script_still_to_be_scored_is_not_final() -> None:
    waits = item(0, has_refined=True, verdict=Verdict.INCORRECT)
    found = compare(joint((waits, item(2)), (item(0), item(2))), STRICT)

    assert found["first_pass_accuracy"].change.items == 2
    assert found["overall_assessor_triggered"].change.items == 1
    assert found["overall_expert_triggered"].left_out == 1


def test_an_unresolved_refined_script_matters_only_where_the_figure_asks_for_it() -> None:
    refined = tuple(GivenScore(reviewer=n, stage=Stage.REFINED, value=n) for n in (0, 2))
    passed = Judged(
        scores=(GivenScore(reviewer=0, stage=Stage.SCRIPT, value=0), *refined),
        verdict=Verdict.CORRECT,
        recommended=Recommended.FIRST,
    )
    found = compare(joint((passed, item(2, recommended=Recommended.FIRST))), STRICT)

    assert found["overall_assessor_triggered"].change.items == 1
    assert found["overall_as_recommended"].change.items == 1
    assert found["overall_expert_triggered"].left_out == 1


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(judged_items(), judged_items()), max_size=8), st.sampled_from(Criterion))
def test_sides_turn_the_sign_and_the_reduced_pattern_says_the_same(
    cases: list[tuple[Judged, Judged]], criterion: Criterion
) -> None:
    found = compare(joint(*cases), criterion)
    turned = compare(joint(*[(second, first) for first, second in cases]), criterion)
    reduced: Joint = Counter()
    for (first, second), times in joint(*cases).items():
        reduced[reduce_pattern(first), reduce_pattern(second)] += times

    assert tuple(found) == COMPARED
    assert compare(reduced, criterion) == found
    for name, one in found.items():
        other = turned[name]
        assert (one.change.gained, one.change.lost) == (other.change.lost, other.change.gained)
        assert (one.change.items, one.left_out) == (other.change.items, other.left_out)
        assert one.change.items + one.left_out == sum(joint(*cases).values())
