"""Tests for two configurations on the same cases, and for the family of their p values."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.types import Verdict
from review.study import Criterion, GivenScore, ItemPattern, Judged, Stage, compare, pattern_of
from review.study.compare import COMPARED, NO_SCORES, TOO_MANY_OPEN, reduce_pattern
from review.study.definitions import Object
from review.study.family import Hypothesis, between, plan_family, settle_family
from review.study.statistics.p_values import adjust_by_holm, sign_flip
from review.study.types import Origin, Recommended
from tests.review.study.drawn_items import drawn_items

STRICT = Criterion.STRICT
Joint = Counter[tuple[tuple[ItemPattern, ItemPattern], ...]]


def item(script: int, refined: int | None = None, **rest) -> Judged:
    scores = [GivenScore(reviewer=1, stage=Stage.SCRIPT, value=script)]
    if refined is not None:
        scores.append(GivenScore(reviewer=1, stage=Stage.REFINED, value=refined))
    return Judged(scores=tuple(scores), **rest)


def joint(*cases: tuple[Judged, Judged]) -> Joint:
    """Return the pairs, with one statement per case."""
    pairs = [(pattern_of(first), pattern_of(second)) for first, second in cases]
    return Counter(((first, second),) for first, second in pairs if first and second)


def statements(*found: list[tuple[Judged, Judged]]) -> Joint:
    """Return the pairs, with one statement per list of cases."""
    return Counter(tuple(pair for case in cases for (pair,) in joint(case)) for cases in found)


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
            *[(item(2), item(2))] * 33,
            (item(2), Judged()),
            (split, item(2)),
            (item(2, origin=Origin.RETRIEVED), item(2)),
        ),
        STRICT,
    )["first_pass_accuracy"]

    assert (found.change.gained, found.change.lost, found.change.items) == (6, 1, 40)
    assert found.change.value == 0.125
    assert found.change.p_value == pytest.approx(0.125)
    assert found.left_out == 3


def test_a_refined_script_still_to_be_scored_is_not_final() -> None:
    waits = item(0, has_refined=True, verdict=Verdict.INCORRECT)
    found = compare(joint((waits, item(2)), *[(item(0), item(2))] * 19), STRICT)

    assert found["first_pass_accuracy"].change.items == 20
    assert found["overall_assessor_triggered"].change.items == 19
    assert (found["overall_expert_triggered"].left_out, found["overall_expert_triggered"].open) == (
        1,
        1,
    )


def test_with_more_than_one_in_twenty_open_no_comparison_is_made() -> None:
    waits = item(0, has_refined=True, verdict=Verdict.INCORRECT)
    found = compare(joint((waits, item(2)), *[(item(0), item(2))] * 18), STRICT)
    one = found["overall_expert_triggered"]

    assert (one.reason, one.open, one.change.items) == (TOO_MANY_OPEN, 1, 18)
    assert (one.change.value, one.change.p_value) == (None, None)
    assert found["first_pass_accuracy"].reason == ""


def test_comparison_with_open_scripts_or_without_scores_shows_no_difference() -> None:
    """Each stage may be open, in either arm. A failed run has an outcome but no reviewer's score."""
    split = tuple(GivenScore(reviewer=n, stage=Stage.SCRIPT, value=n) for n in (0, 2))
    failed = Judged(origin=Origin.FAILED)
    closed = (item(0), item(2))
    wanted = {
        "script not scored": ([(Judged(), item(2))] * 42 + [closed] * 58, TOO_MANY_OPEN),
        "script of second": ([(item(2), Judged())] * 6 + [closed] * 94, TOO_MANY_OPEN),
        "script unresolved": ([(Judged(scores=split), item(2))] * 6 + [closed] * 94, TOO_MANY_OPEN),
        "some in each": ([(Judged(), item(2)), (item(2), Judged())] * 3, TOO_MANY_OPEN),
        "nothing scored": ([(Judged(), Judged())] * 10, TOO_MANY_OPEN),
        "failed alone": ([(failed, failed)] * 10, NO_SCORES),
        "failed on one side": ([(failed, item(2))] * 10, NO_SCORES),
        "five in a hundred": ([(Judged(), item(2))] * 5 + [closed] * 95, ""),
        "one failed": ([(failed, item(2))] + [closed] * 9, ""),
    }
    found = {name: compare(joint(*cases), STRICT) for name, (cases, _reason) in wanted.items()}
    reasons = {name: one["first_pass_accuracy"].reason for name, one in found.items()}

    assert reasons == {name: reason for name, (_cases, reason) in wanted.items()}
    for name, one in found.items():
        change = one["first_pass_accuracy"].change
        is_told = not reasons[name]
        assert (change.value is not None, change.p_value is not None) == (is_told, is_told), name


def test_statements_are_turned_as_a_whole() -> None:
    """Two statements gain all three cases, and one loses its only case. Of the 8 sign flips, 4 are as extreme."""
    gain, lose = (item(0), item(2)), (item(2), item(0))
    one = compare(statements([gain] * 3, [gain] * 3, [lose]), STRICT)["first_pass_accuracy"]

    assert (one.change.gained, one.change.lost, one.change.items) == (6, 1, 7)
    # The sums are 7, 5, 1, -1 and their opposites. The observed sum is 5.
    assert one.change.p_value == pytest.approx(4 / 8)
    assert one.change.deff > 1


@settings(max_examples=20)
@given(st.lists(st.integers(-3, 3), max_size=8))
def test_turning_signs_is_exact(differences: list[int]) -> None:
    seen = abs(sum(differences))
    ways = [
        abs(sum(sign * one for sign, one in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    steps = Counter(abs(one) for one in differences)

    assert sign_flip(steps, sum(differences)) == pytest.approx(
        sum(way >= seen for way in ways) / len(ways)
    )


def test_turning_many_signs_of_several_sizes_keeps_to_the_chances() -> None:
    """A normal distribution with the same spread is close. The sum is 2 standard deviations from the mean."""
    steps = {1: 2_000, 2: 1_500, 3: 500}
    spread = (2_000 + 4 * 1_500 + 9 * 500) ** 0.5

    assert sign_flip(steps, round(2 * spread)) == pytest.approx(0.0455, abs=0.001)


def test_family_has_all_comparisons_adjusted_by_holm() -> None:
    assert adjust_by_holm([0.01, 0.04, None, 0.03]) == pytest.approx([0.04, 0.09, None, 0.09])
    assert adjust_by_holm([]) == []
    planned = plan_family(["small", "large"])

    assert len(planned) == len(set(planned)) == 2 * (6 + 2 * 3)
    assert between("first_pass_accuracy", "strict", ("small", "large")) in planned
    assert Hypothesis("net", "partial", "large") in planned


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


def test_swapped_sides_turn_the_sign_and_reduced_patterns_give_the_same() -> None:
    for seed in range(30):
        items = drawn_items(seed)
        cases = list(zip(items[::2], items[1::2], strict=False))
        for criterion in Criterion:
            found = compare(joint(*cases), criterion)
            turned = compare(joint(*[(second, first) for first, second in cases]), criterion)
            reduced: Joint = Counter()
            for ((first, second),), times in joint(*cases).items():
                reduced[((reduce_pattern(first), reduce_pattern(second)),)] += times

            assert tuple(found) == COMPARED
            assert compare(reduced, criterion) == found, seed
            for name, one in found.items():
                other = turned[name]
                assert (one.change.gained, one.change.lost) == (
                    other.change.lost,
                    other.change.gained,
                ), (seed, name)
                assert (one.change.items, one.left_out) == (other.change.items, other.left_out)
                assert one.change.items + one.left_out == len(cases)


EVERYTHING = frozenset(Object)


def test_what_has_no_p_value_stays_in_the_family_unless_the_study_has_none_of_it() -> None:
    planned = plan_family(["large", "small"])
    found = {Hypothesis("net", "strict", "large")}
    every = settle_family(planned, found, {"large": EVERYTHING, "small": EVERYTHING})
    without_assessor = settle_family(
        planned, found, {"large": EVERYTHING, "small": frozenset({Object.REFINED})}
    )

    # Experts' refinements are not planned, so they are included only if some exist.
    assert len(every) == 2 * (6 + 2) - 1
    assert {one.figure for one in without_assessor if one.second} == {
        *("first_pass_accuracy", "overall_expert_triggered")
    }
    assert settle_family(planned, found, {}) == []
