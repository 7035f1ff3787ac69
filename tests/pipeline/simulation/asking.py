"""Run simulations in this process, with the real flow and the demo model's answers but without HTTP."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction

from pipeline.error_model.model_behaviour import Chance, ModelBehaviour
from pipeline.error_model.rates import Rates, load_presets
from pipeline.simulation.item_flow import Ask, ItemOutcome, Spoken, simulate_item
from pipeline.standin.prompt_contract import parse_prompt
from pipeline.standin.simulated_models import SimulatedAnswers
from pipeline.types import Question, Reply

PAPER = load_presets()["paper"].rates
# Every rate is used, and the denominators reveal mistakes.
MIXED = Rates(
    generator="2/5",
    recall="4/7",
    false_alarm="1/4",
    fixes="5/9",
    breaks="3/11",
    fixes_missed="2/3",
    no_error="1/5",
    no_error_wrong="1/8",
    repeats="1/6",
    unreadable="1/10",
)


def ask_directly(rates: Rates, chance: Chance) -> Ask:
    """Return a function that answers in this process with tool input, the fastest format to read."""
    answers = SimulatedAnswers(ModelBehaviour(rates, chance), script_lines=4)

    def ask(asked: Sequence[Question]) -> list[Spoken]:
        prompts = [parse_prompt(question.system, question.user) for question in asked]
        return [Spoken(Reply("", tool_input=answers.answer(prompt))) for prompt in prompts]

    return ask


def outcomes(
    rates: Rates, chance: Chance, *, items: Iterable[int], rounds: Sequence[int]
) -> list[ItemOutcome]:
    """Return the outcomes of these items in the flow."""
    ask = ask_directly(rates, chance)
    return [simulate_item(item, rounds=rounds, ask=ask) for item in items]


class OneWay:
    """A chance that returns the given results and then always True, and records what it returned."""

    def __init__(self, told: Sequence[bool]) -> None:
        self._told = list(told)
        self._known: dict[tuple[str, int, int], bool] = {}
        self.taken: list[bool] = []
        self.probability = Fraction(1)

    def happens(self, rate: Fraction, *, what: str, item: int, draft: int) -> bool:
        if rate in (0, 1):
            return rate == 1
        key = (what, item, draft)
        if key not in self._known:
            at = len(self.taken)
            happens = self._told[at] if at < len(self._told) else True
            self.taken.append(happens)
            self.probability *= rate if happens else 1 - rate
            self._known[key] = happens
        return self._known[key]


def every_way(carry_out: Callable[[Chance], ItemOutcome]) -> Iterator[tuple[Fraction, ItemOutcome]]:
    """Yield every possible outcome of an item once, with its exact probability."""
    told: list[bool] = []
    while True:
        way = OneWay(told)
        outcome = carry_out(way)
        yield way.probability, outcome
        told = way.taken
        while told and not told[-1]:
            told.pop()
        if not told:
            return
        told[-1] = False
