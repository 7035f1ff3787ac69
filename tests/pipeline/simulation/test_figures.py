"""Tests that intervals and counts follow their definitions."""

from __future__ import annotations

import pytest

from core.intervals import Interval, newcombe
from pipeline.simulation.figures import Figure, count
from pipeline.simulation.item_flow import ItemOutcome, Passage
from pipeline.simulation.quantiles import of_mean, quantile
from pipeline.types import Verdict
from tests.pipeline.simulation.asking import PAPER

Z = quantile(0.95)


def test_newcombe_interval_holds_the_true_difference() -> None:
    low, high = newcombe(gained=18, lost=3, both=62, neither=70, z=Z)
    assert (round(low, 3), round(high, 3)) == (0.040, 0.155)
    assert newcombe(gained=0, lost=0, both=0, neither=20, z=Z).holds(0)
    assert newcombe(gained=0, lost=0, both=20, neither=0, z=Z).holds(0)


def test_intervals_that_hold_together_are_wider() -> None:
    assert quantile(0.95, figures=100) > quantile(0.95) == pytest.approx(1.96, abs=0.001)


def test_interval_of_a_mean_without_spread_or_items_is_empty() -> None:
    assert of_mean(40, 160, 10, z=Z) == Interval(4.0, 4.0)
    figure = Figure(name="assessor_precision", numerator=0, denominator=0, expected=None)
    assert figure.value is figure.interval() is figure.agrees() is None


def outcome(
    verdict: Verdict, *, first: bool, last: bool, recommended: bool, expert: bool = False
) -> ItemOutcome:
    after = Passage(last, recommended, 9, 300, 30, 15)
    return ItemOutcome(first, verdict, expert, {0: Passage(first, first, 4, 100, 10, 5), 1: after})


def test_figures_are_counted_by_their_definitions() -> None:
    counted = count(
        [
            outcome(Verdict.CORRECT, first=True, last=True, recommended=True, expert=True),
            outcome(Verdict.CORRECT, first=False, last=False, recommended=False, expert=True),
            outcome(Verdict.UNKNOWN, first=False, last=False, recommended=False),
            outcome(Verdict.INCORRECT, first=True, last=False, recommended=True, expert=True),
            outcome(Verdict.INCORRECT, first=False, last=True, recommended=False, expert=True),
            outcome(Verdict.INCORRECT, first=False, last=True, recommended=True, expert=True),
        ],
        PAPER,
    )
    none, one = counted.rounds
    found = {
        figure.name: (figure.numerator, figure.denominator)
        for figure in (*counted.figures, *one.figures)
    }
    assert found == {
        "first_pass_accuracy": (2, 6),
        "assessor_agreement": (3, 5),
        "assessor_recall": (2, 4),
        "assessor_precision": (2, 3),
        "assessor_unknown": (1, 6),
        "overall_expert_triggered": (5, 6),
        "overall_assessor_triggered": (3, 6),
        "fixed_assessor_triggered": (2, 2),
        "broken_assessor_triggered": (1, 1),
        "net_assessor_triggered": (1, 6),
        "overall_as_recommended": (3, 6),
        "fixed_as_recommended": (1, 2),
        "broken_as_recommended": (0, 1),
        "net_as_recommended": (1, 6),
        "calls": (54, 6),
    }
    assert (one.input_tokens, one.output_tokens, one.cost) == (1800, 180, 90)
    assert none.figure("fixed_as_recommended") is None, "without rounds nothing is refined"
