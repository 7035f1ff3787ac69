"""Tests that rates are read exactly and that simulated models follow them."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from pipeline.error_model.model_behaviour import ModelBehaviour, SeededChance
from pipeline.error_model.rates import (
    PRESETS,
    Price,
    Rates,
    RatesError,
    Simulation,
    load_configurations,
    load_presets,
    load_simulation,
    with_rates,
)
from pipeline.error_model.script_texts import (
    SimulatedDraft,
    describe_draft,
    read_draft,
    write_script,
)
from pipeline.types import Verdict
from tests.pipeline.simulation.asking import MIXED, PAPER, outcomes

RATES = "{generator: 0.42, recall: 38/88, false_alarm: 0.15, fixes: 1, breaks: 0, fixes_missed: .5}"


def write(folder: Path, text: str) -> Path:
    file = folder / "rates.yaml"
    file.write_text(text)
    return file


def test_numbers_are_meant_as_written_and_fractions_are_exact(tmp_path: Path) -> None:
    file = write(tmp_path, f"configurations: [{{name: mine, rates: {RATES}}}]")
    rates = load_configurations(file)[0].rates
    assert (rates.generator, rates.recall) == (Fraction(21, 50), Fraction(19, 44))


def test_invalid_rates_are_refused_with_place(tmp_path: Path, subtests: pytest.Subtests) -> None:
    cases = {
        "none": ("configurations: []", "configurations"),
        "a list": ("- 1", "valid"),
        "no rates": ("configurations: [{name: a}]", "configurations.0.rates"),
        "bad name": ("configurations: [{name: 'A b', rates: {}}]", "0.name"),
        "above 1": (f"configurations: [{{name: a, rates: {RATES.replace('0.42', '1.2')}}}]",
            "rates.generator"),
        "divided by nothing": (f"configurations: [{{name: a, rates: {RATES.replace('38/88', '1/0')}}}]",
            "a fraction such as"),
        "unknown key": (f"configurations: [{{name: a, rates: {RATES}, price: 3}}]", "price"),
        "no YAML": ("a: [", "rates.yaml"),
    }  # fmt: skip
    for name, (text, says) in cases.items():
        with subtests.test(name), pytest.raises(RatesError, match=says):
            load_configurations(write(tmp_path, text))


def test_presets_and_simulation_are_read_back_exactly(tmp_path: Path) -> None:
    assert list(load_presets()) == ["paper", "self-reflection", "peer-review", "strong-refiner"]
    assert load_configurations(PRESETS) == tuple(load_presets().values())
    simulation = Simulation(seed=7, configurations=tuple(load_presets().values()))
    file = write(tmp_path, simulation.model_dump_json())
    assert load_simulation(file) == simulation


def test_single_rates_change_the_rest_stays() -> None:
    paper = load_presets()["paper"]
    own = with_rates(paper, name="own", title="", rates={"recall": "0.6"})
    assert own.rates == Rates.model_validate({**paper.rates.model_dump(), "recall": "0.6"})
    with pytest.raises(RatesError, match="recall"):
        with_rates(paper, name="own", title="", rates={"recall": "most"})


def test_cost_is_rounded_half_up_in_micro_dollars() -> None:
    price = Price.model_validate({"input": 0.1, "output": 0.5})
    assert price.cost(input=5, output=0) == 1
    assert price.cost(input=1_000_000, output=1_000_000) == 600_000


def test_draws_depend_on_the_seed_and_not_on_the_order() -> None:
    chance = SeededChance(3)
    forth = outcomes(MIXED, chance, items=range(12), rounds=[2])
    back = outcomes(MIXED, SeededChance(3), items=range(11, -1, -1), rounds=[2])
    assert forth == back[::-1]
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
    """Configurations differ only if their rates differ, like the arms of a study on the same items."""
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
