"""Tests for intervals, exact tests and planned sizes, compared with their textbook forms."""

from __future__ import annotations

from fractions import Fraction
from math import comb, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.intervals import Z, newcombe, t_quantile, wilson
from review.study.planning import (
    OutOfReach,
    alpha_width,
    half_width,
    plan_agreement,
    plan_paired,
    plan_share,
    power,
)
from review.study.statistics.intervals import Difference, Share
from review.study.statistics.p_values import mcnemar_exact

COUNTS = st.integers(0, 60)


@settings(max_examples=60)
@given(st.integers(0, 200), st.integers(1, 200))
def test_both_ends_of_wilsons_interval_are_just_not_refused(numerator: int, more: int) -> None:
    """The interval contains the shares that a score test at 5% does not reject, so its ends solve the test's
    equation."""
    items = numerator + more
    low, high = wilson(numerator, items)

    for end in (low, high):
        distance = abs(numerator / items - end)
        assert distance == pytest.approx(Z * sqrt(end * (1 - end) / items), abs=1e-9)
    mirrored = wilson(items - numerator, items)
    assert (1 - mirrored.high, 1 - mirrored.low) == pytest.approx((low, high), abs=1e-12)


def test_wilson_at_the_edges() -> None:
    assert wilson(0, 10) == pytest.approx((0.0, 0.2775328), abs=1e-6)
    assert wilson(10, 10) == pytest.approx((0.7224672, 1.0), abs=1e-6)
    assert (wilson(0, 10).low, wilson(10, 10).high) == (0, 1)
    assert Share.of(0, 0) == Share(0, 0, None, None, None)
    for numerator, denominator in ((0, 0), (3, 2), (-1, 2)):
        with pytest.raises(ValueError, match="not a share"):
            wilson(numerator, denominator)


@settings(max_examples=60)
@given(COUNTS, COUNTS)
def test_mcnemars_p_value_is_the_exact_binomial_tail(gained: int, lost: int) -> None:
    changed = gained + lost
    tail = sum(comb(changed, count) for count in range(min(gained, lost) + 1))

    assert mcnemar_exact(gained, lost) == pytest.approx(
        float(min(Fraction(1), 2 * Fraction(tail, 2**changed))), rel=1e-9
    )
    assert mcnemar_exact(gained, lost) == mcnemar_exact(lost, gained)


def test_mcnemar_is_exact_for_very_many_items() -> None:
    assert mcnemar_exact(500_000, 500_000) == 1.0
    assert mcnemar_exact(501_000, 499_000) == pytest.approx(0.0456, abs=2e-4)
    assert mcnemar_exact(600_000, 400_000) == 0.0


@settings(max_examples=80)
@given(COUNTS, COUNTS, COUNTS, COUNTS)
def test_paired_difference_is_inside(both: int, lost: int, gained: int, neither: int) -> None:
    one = Difference.of(both=both, lost=lost, gained=gained, neither=neither)
    other = Difference.of(both=both, lost=gained, gained=lost, neither=neither)
    if not one.items:
        assert (one.value, one.low, one.high, one.p_value) == (None, None, None, None)
        return

    assert -1 <= one.low <= one.value <= one.high <= 1
    assert (-other.high, -other.low) == pytest.approx((one.low, one.high), abs=1e-12)
    assert one.p_value == other.p_value


def test_newcombe_interval_equals_the_golden_case() -> None:
    """The shares before and after are nearly independent, so the continuity correction leaves no correlation."""
    interval = newcombe(both=62, lost=3, gained=18, neither=70)

    assert interval == pytest.approx((0.040, 0.155), abs=5e-4)
    interval = newcombe(both=20, lost=25, gained=25, neither=32)

    low, high = wilson(45, 102)
    joined = sqrt((45 / 102 - low) ** 2 + (high - 45 / 102) ** 2)
    assert interval == pytest.approx((-joined, joined))


def test_without_a_correlation_the_two_intervals_are_joined_as_of_independent_shares() -> None:
    """All items are right afterwards, so the correlation is unknown."""
    interval = newcombe(both=43, lost=0, gained=7, neither=0)

    before, after = wilson(43, 50), wilson(50, 50)
    assert interval.low == pytest.approx(
        0.14 - sqrt((1 - after.low) ** 2 + (before.high - 0.86) ** 2)
    )
    assert interval.high == pytest.approx(0.14 + (0.86 - before.low))


def test_the_quantile_of_t_is_the_tabled_one() -> None:
    tabled = {1: 12.706205, 2: 4.302653, 5: 2.570582, 29: 2.045230, 546: 1.964318}
    for freedom, value in tabled.items():
        assert t_quantile(freedom) == pytest.approx(value, abs=1e-6)
    with pytest.raises(ValueError, match="freedom"):
        t_quantile(0)


def test_items_that_repeat_a_statement_are_worth_fewer() -> None:
    """Forty statements have three items each: all right for 20, all wrong for 10, and one right for 10.

    The expected values follow from the formula.
    """
    clusters = [(3, 3, 20), (0, 3, 10), (1, 3, 10)]
    found = Share.of(70, 120, clusters=clusters)
    p = 70 / 120
    between = 20 * (3 - 3 * p) ** 2 + 10 * (3 * p) ** 2 + 10 * (1 - 3 * p) ** 2
    deff = 40 / 39 * between / (120 * p * (1 - p))
    size = 120 / deff * (Z / t_quantile(39)) ** 2

    assert found.deff == pytest.approx(deff)
    assert deff > 2
    assert (found.low, found.high) == pytest.approx(wilson(p * size, size))


def test_all_right_and_repeated_counts_statements_and_one_statement_has_no_interval() -> None:
    assert Share.of(30, 30, clusters=[(3, 3, 10)]).low == pytest.approx(wilson(10, 10).low)
    one = Share.of(2, 3, clusters=[(2, 3, 1)])
    assert (one.value, one.low, one.high) == (2 / 3, None, None)


def test_a_difference_over_repeated_statements_is_that_of_a_smaller_table() -> None:
    clusters = [(3, 3, 6), (-1, 3, 2), (0, 3, 12)]
    found = Difference.of(both=20, lost=2, gained=18, neither=20, clusters=clusters)
    mean = 16 / 60
    between = 6 * (3 - 3 * mean) ** 2 + 2 * (-1 - 3 * mean) ** 2 + 12 * (3 * mean) ** 2
    deff = 20 / 19 * between / (20 - 60 * mean**2)

    assert found.deff == pytest.approx(deff)
    assert (found.low, found.high) == pytest.approx(
        newcombe(both=20 / deff, lost=2 / deff, gained=18 / deff, neither=20 / deff)
    )
    nothing = Difference.of(both=30, lost=0, gained=0, neither=30, clusters=[(0, 3, 20)])
    assert (nothing.deff, nothing.p_value) == (3.0, 1.0)


def test_half_width_is_wilsons_and_planned_exactly() -> None:
    for share, wanted in ((0.5, 0.05), (0.1, 0.04), (0.0, 0.02)):
        items = plan_share(share=share, half_width_wanted=wanted).items
        assert half_width(share, items) <= wanted < half_width(share, items - 1), share
    low, high = wilson(30, 120)
    assert half_width(0.25, 120) == pytest.approx((high - low) / 2)


def test_repeated_statements_take_more_items() -> None:
    alone = plan_share(share=0.5, half_width_wanted=0.05)
    repeated = plan_share(share=0.5, half_width_wanted=0.05, deff=2.5)
    assert repeated.items == round(np.ceil(alone.items * 2.5))
    assert repeated.independent == alone.items


def enumerated_power(gained: float, lost: float, items: int) -> float:
    """Return the power as a sum over every number of discordant and gained items."""
    both, total = gained + lost, 0.0
    for m in range(items + 1):
        for c in range(m + 1):
            tail = sum(comb(m, one) for one in range(min(c, m - c) + 1)) / 2**m
            if min(1.0, 2 * tail) <= 0.05:
                there = comb(items, m) * both**m * (1 - both) ** (items - m)
                total += there * comb(m, c) * (gained / both) ** c * (lost / both) ** (m - c)
    return total


def test_planned_power_is_exact_or_out_of_reach() -> None:
    for items in (5, 6, 20, 41):
        assert power(0.3, 0.1, items) == pytest.approx(enumerated_power(0.3, 0.1, items), abs=1e-8)
    items = plan_paired(gained=0.15, lost=0.05, power_wanted=0.8).items
    assert power(0.15, 0.05, items - 1) < 0.8
    assert all(power(0.15, 0.05, items + more) >= 0.8 for more in range(20))
    with pytest.raises(OutOfReach):
        plan_paired(gained=0.1, lost=0.1, power_wanted=0.8)
    with pytest.raises(OutOfReach):
        plan_share(share=0.5, half_width_wanted=0.001)


@pytest.mark.slow
def test_the_width_of_alpha_falls_with_the_root_of_the_items() -> None:
    margins = (0.4, 0.15, 0.45)
    wide, narrow = (alpha_width(margins, 0.7, items) for items in (100, 400))
    assert wide / narrow == pytest.approx(2, rel=0.1)
    # More reviewers provide more information about each item.
    assert alpha_width(margins, 0.7, 100, reviewers=4) < wide
    planned = plan_agreement(margins=margins, alpha=0.7, width_wanted=0.2).items
    assert alpha_width(margins, 0.7, planned) <= 0.2
