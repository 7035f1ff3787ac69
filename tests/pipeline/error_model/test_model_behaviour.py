"""What simulated models decide is a pure function, and follows the rates."""

from __future__ import annotations

from fractions import Fraction

import pytest

from pipeline.error_model.model_behaviour import ModelBehaviour, SeededChance
from pipeline.error_model.rates import Rates
from pipeline.error_model.script_texts import (
    SimulatedDraft,
    describe_draft,
    read_draft,
    write_script,
)
from pipeline.types import Verdict
from tests.pipeline.simulation.asking import MIXED, PAPER, outcomes


def test_the_order_of_items_changes_nothing() -> None:
    chance = SeededChance(3)
    forth = outcomes(MIXED, chance, items=range(12), rounds=[2])
    back = outcomes(MIXED, SeededChance(3), items=range(11, -1, -1), rounds=[2])
    assert forth == back[::-1]


def test_another_seed_draws_other_items() -> None:
    drawn = [
        [ModelBehaviour(PAPER, SeededChance(seed)).write(item).right for item in range(64)]
        for seed in (1, 2)
    ]
    assert drawn[0] != drawn[1]


def test_never_and_always_are_exact(subtests: pytest.Subtests) -> None:
    cases = (Fraction(0), Fraction(1))
    for rate in cases:
        with subtests.test(rate):
            chance = SeededChance(1)
            happened = {
                chance.happens(rate, what="anything", item=item, draft=0) for item in range(1000)
            }
            assert happened == {rate == 1}


def test_configurations_share_their_items() -> None:
    """As arms on the same items do: only what a rate makes differ differs."""
    better = PAPER.model_copy(update={"recall": Fraction(3, 5)})
    chance = SeededChance(1)
    drafts = [ModelBehaviour(PAPER, chance).write(item) for item in range(200)]
    assert drafts == [ModelBehaviour(better, chance).write(item) for item in range(200)]
    flagged = [
        {
            draft.item
            for draft in drafts
            if ModelBehaviour(rates, chance).judge(draft) is Verdict.INCORRECT
        }
        for rates in (PAPER, better)
    ]
    assert flagged[0] < flagged[1]


def test_what_a_refiner_repeats_was_there_before(subtests: pytest.Subtests) -> None:
    cases = {"the first again": (1, 0), "itself": (2, 2)}
    for name, (item, number) in cases.items():
        with subtests.test(name):
            rates = Rates.model_validate({**PAPER.model_dump(), "repeats": 1})
            draft = SimulatedDraft(item, 2, right=False)
            assert ModelBehaviour(rates, SeededChance(1)).rewrite(draft).number == number


def test_quality_travels_in_the_script_and_in_its_description(subtests: pytest.Subtests) -> None:
    cases = (True, False)
    for right in cases:
        with subtests.test(str(right)):
            draft = SimulatedDraft(41, 2, right)
            assert read_draft(write_script(draft, lines=12)) == draft
            assert read_draft(describe_draft(draft)) == draft
            assert read_draft("echo hello") is None
            assert write_script(draft, lines=12).count("\n") == 12
