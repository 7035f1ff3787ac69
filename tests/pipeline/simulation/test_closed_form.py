"""Tests that compare the closed form with the study it describes, with all possible outcomes, and with simulations."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

from pipeline.error_model.model_behaviour import SeededChance
from pipeline.error_model.rates import Rates, load_presets
from pipeline.simulation.closed_form import expect_first, expect_rounds
from pipeline.simulation.figures import count
from pipeline.simulation.item_flow import ItemOutcome, simulate_item
from pipeline.simulation.quantiles import quantile
from pipeline.types import Verdict
from tests.first_cases import first_cases
from tests.pipeline.simulation.asking import MIXED, PAPER, ask_directly, every_way, outcomes

NEVER = Rates(generator=0, recall=0, false_alarm=0, fixes=0, breaks=0, fixes_missed=0)


def test_the_paper_preset_gives_the_figures_of_the_paper(subtests: pytest.Subtests) -> None:
    cases = {
        "first pass": ("first_pass_accuracy", Fraction(65, 153)),
        "agreement": ("assessor_agreement", Fraction(93, 153)),
        "recall": ("assessor_recall", Fraction(38, 88)),
        "precision": ("assessor_precision", Fraction(38, 48)),
        "expert-triggered": ("overall_expert_triggered", Fraction(116, 153)),
        "assessor-triggered": ("overall_assessor_triggered", Fraction(80, 153)),
        "fixed": ("fixed_assessor_triggered", Fraction(18, 38)),
        "broken": ("broken_assessor_triggered", Fraction(3, 10)),
        "net": ("net_assessor_triggered", Fraction(15, 153)),
    }
    for name, (figure, counted) in cases.items():
        with subtests.test(name):
            expected = expect_first(PAPER) | expect_rounds(PAPER, rounds=1)
            assert expected[figure] == counted


def test_self_reflection_preset_gives_the_shares_it_is_derived_from() -> None:
    derived = load_presets()["self-reflection"]
    expected = expect_first(derived.rates) | expect_rounds(derived.rates, rounds=1)
    assert {
        "assessor_agreement": Fraction(83, 153),
        "overall_assessor_triggered": Fraction(75, 153),
        "overall_expert_triggered": Fraction(116, 153),
        "first_pass_accuracy": Fraction(65, 153),
    }.items() <= expected.items()
    assert "derived" in derived.title and derived.note.startswith("Derived, not measured")
    same = {"generator", "fixes", "breaks"}
    assert derived.rates.model_dump(include=same) == PAPER.model_dump(include=same)
    assert not [
        one
        for one in load_presets().values()
        if one.title.startswith("Self-") and one.rates == PAPER
    ]


Counts = Callable[[ItemOutcome], bool]


def is_flagged(one: ItemOutcome) -> bool:
    return one.verdict is Verdict.INCORRECT


@pytest.mark.parametrize(
    "item", first_cases(1, [pytest.param(1, id="odd"), pytest.param(2, id="even")])
)
@pytest.mark.parametrize("rounds", [0, 1, 2, 3])
def test_it_is_the_sum_over_every_way_through_the_real_flow(item: int, rounds: int) -> None:
    ways = list(
        every_way(
            lambda chance: simulate_item(item, rounds=[rounds], ask=ask_directly(MIXED, chance))
        )
    )
    assert sum(probability for probability, _ in ways) == 1

    def share(counts: Counts, of: Counts = lambda one: True) -> Fraction:
        whole = sum(probability for probability, one in ways if of(one))
        return sum((p for p, one in ways if of(one) and counts(one)), Fraction(0)) / whole

    def last(one: ItemOutcome) -> bool:
        return one.passages[rounds].last_right

    def recommended(one: ItemOutcome) -> bool:
        return one.passages[rounds].recommended_right

    first, after = expect_first(MIXED), expect_rounds(MIXED, rounds=rounds)
    assert first["first_pass_accuracy"] == share(lambda one: one.first_right)
    assert first["assessor_unknown"] == share(lambda one: one.verdict is Verdict.UNKNOWN)
    assert first["assessor_recall"] == share(is_flagged, lambda one: not one.first_right)
    assert first["assessor_precision"] == share(lambda one: not one.first_right, is_flagged)
    assert first["assessor_agreement"] == share(
        lambda one: is_flagged(one) is not one.first_right,
        lambda one: one.verdict is not Verdict.UNKNOWN,
    )
    assert first["overall_expert_triggered"] == share(lambda one: one.expert_right)
    for end, is_right in (("assessor_triggered", last), ("as_recommended", recommended)):
        flagged_wrong = share(is_right, lambda one: is_flagged(one) and not one.first_right)
        flagged_right = share(is_right, lambda one: is_flagged(one) and one.first_right)
        assert after[f"overall_{end}"] == share(is_right)
        assert after[f"fixed_{end}"] == flagged_wrong
        assert after[f"broken_{end}"] == 1 - flagged_right
        assert after[f"net_{end}"] == share(is_right) - share(lambda one: one.first_right)
    assert after["calls"] == sum(p * one.passages[rounds].calls for p, one in ways)


def test_what_has_nothing_to_divide_by_is_undefined() -> None:
    expected = expect_first(NEVER) | expect_rounds(NEVER, rounds=2)
    assert expected["assessor_precision"] is None
    assert expected["fixed_as_recommended"] is expected["broken_as_recommended"] is None
    assert expected["overall_as_recommended"] == 0


@pytest.mark.slow
def test_many_simulations_agree_with_it() -> None:
    """With eight fixed seeds, all figures agree at the joint confidence level, and at least 90% agree at their own
    level."""
    counted = [
        count(outcomes(MIXED, SeededChance(seed), items=range(100), rounds=[0, 1, 3]), MIXED)
        for seed in range(8)
    ]
    figures = [figure for one in counted for figure in one.all_figures()]
    defined = [figure for figure in figures if figure.agrees() is not None]
    together = quantile(0.95, figures=len(defined))
    assert all(figure.agrees(z=together) for figure in defined)
    assert sum(figure.agrees() is True for figure in defined) >= 0.9 * len(defined)
