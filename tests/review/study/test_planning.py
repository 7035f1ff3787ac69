"""How many items a study needs: against the formulas worked through by hand, and against simulation."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

from core.intervals import wilson
from review.study.planning import (
    OutOfReach,
    alpha_width,
    half_width,
    plan_agreement,
    plan_paired,
    plan_share,
    power,
)


@pytest.mark.parametrize(
    ("share", "wanted"),
    [
        pytest.param(0.5, 0.05, id="half"),
        pytest.param(0.1, 0.04, id="a small share"),
        pytest.param(0.0, 0.02, id="none at all"),
    ],
)
def test_the_smallest_number_of_items_for_a_half_width(share: float, wanted: float) -> None:
    items = plan_share(share=share, half_width_wanted=wanted).items
    assert half_width(share, items) <= wanted < half_width(share, items - 1)


def test_the_half_width_is_that_of_wilsons_interval() -> None:
    low, high = wilson(30, 120)
    assert half_width(0.25, 120) == pytest.approx((high - low) / 2)


def test_repeated_statements_take_more_items() -> None:
    alone = plan_share(share=0.5, half_width_wanted=0.05)
    repeated = plan_share(share=0.5, half_width_wanted=0.05, deff=2.5)
    assert repeated.items == round(np.ceil(alone.items * 2.5))
    assert repeated.independent == alone.items


def enumerated_power(gained: float, lost: float, items: int) -> float:
    """Over every number of discordant items and of gained ones among them, with the p value of each."""
    both, total = gained + lost, 0.0
    for m in range(items + 1):
        for c in range(m + 1):
            tail = sum(comb(m, one) for one in range(min(c, m - c) + 1)) / 2**m
            if min(1.0, 2 * tail) <= 0.05:
                there = comb(items, m) * both**m * (1 - both) ** (items - m)
                total += there * comb(m, c) * (gained / both) ** c * (lost / both) ** (m - c)
    return total


@pytest.mark.parametrize("items", [5, 6, 20, 41])
def test_the_power_of_the_exact_test_is_that_of_all_outcomes(items: int) -> None:
    assert power(0.3, 0.1, items) == pytest.approx(enumerated_power(0.3, 0.1, items), abs=1e-8)


def test_from_the_number_of_items_on_the_power_stays_reached() -> None:
    items = plan_paired(gained=0.15, lost=0.05, power_wanted=0.8).items
    assert power(0.15, 0.05, items - 1) < 0.8
    assert all(power(0.15, 0.05, items + more) >= 0.8 for more in range(20))


def test_no_number_of_items_finds_what_is_not_there() -> None:
    with pytest.raises(OutOfReach):
        plan_paired(gained=0.1, lost=0.1, power_wanted=0.8)
    with pytest.raises(OutOfReach):
        plan_share(share=0.5, half_width_wanted=0.001)


@pytest.mark.slow
def test_the_width_of_alpha_falls_with_the_root_of_the_items() -> None:
    margins = (0.4, 0.15, 0.45)
    wide, narrow = (alpha_width(margins, 0.7, items) for items in (100, 400))
    assert wide / narrow == pytest.approx(2, rel=0.1)
    # More reviewers tell more of each item.
    assert alpha_width(margins, 0.7, 100, reviewers=4) < wide
    planned = plan_agreement(margins=margins, alpha=0.7, width_wanted=0.2).items
    assert alpha_width(margins, 0.7, planned) <= 0.2
