"""The counted figures of a simulation, named as in the study report where possible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from core.intervals import Interval, newcombe, wilson
from pipeline.error_model.rates import Rates
from pipeline.simulation.closed_form import Expected, expect_first, expect_rounds
from pipeline.simulation.item_flow import ItemOutcome, Passage
from pipeline.simulation.quantiles import of_mean, quantile
from pipeline.types import Verdict

CONFIDENCE = 0.95
_Z = quantile(CONFIDENCE)


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A proportion: numerator, denominator, and the value that the closed form expects."""

    name: str
    numerator: int
    denominator: int
    expected: Fraction | None

    @property
    def value(self) -> float | None:
        """Return the proportion, or None if the denominator is 0."""
        return self.numerator / self.denominator if self.denominator else None

    def interval(self, *, z: float = _Z) -> Interval | None:
        """Return the interval at the level of `z`, by default 95%."""
        return self._interval(z) if self.denominator else None

    def agrees(self, *, z: float = _Z) -> bool | None:
        """Return whether the closed form is in the interval, or None if either is undefined."""
        interval = self.interval(z=z)
        if interval is None or self.expected is None:
            return None
        return interval.holds(float(self.expected))

    def _interval(self, z: float) -> Interval:
        return wilson(self.numerator, self.denominator, z=z)


@dataclass(frozen=True, kw_only=True)
class Net(Figure):
    """Fixed minus broken items, divided by all items. The numerator can be negative."""

    gained: int
    kept: int

    def _interval(self, z: float) -> Interval:
        lost = self.gained - self.numerator
        neither = self.denominator - self.kept - lost - self.gained
        return newcombe(both=self.kept, lost=lost, gained=self.gained, neither=neither, z=z)


@dataclass(frozen=True, kw_only=True)
class Mean(Figure):
    """The mean number of calls per item. The numerator is the sum of calls."""

    squares: int

    def _interval(self, z: float) -> Interval:
        return of_mean(self.numerator, self.squares, self.denominator, z=z)


@dataclass(frozen=True)
class RoundsCounted:
    """The figures with at most `rounds` rounds. Tokens and cost depend on text lengths and have no closed form."""

    rounds: int
    figures: tuple[Figure, ...]
    input_tokens: int
    output_tokens: int
    cost: int  # micro-dollars of all items

    def figure(self, name: str) -> Figure | None:
        """Return the figure with this name, or None. Without rounds, figures for fixed and broken items are missing."""
        return next((figure for figure in self.figures if figure.name == name), None)


@dataclass(frozen=True)
class Counted:
    """All figures of one configuration. The first number of rounds is 0."""

    items: int
    figures: tuple[Figure, ...]
    rounds: tuple[RoundsCounted, ...]

    def all_figures(self) -> list[Figure]:
        """Return the figures of the first Draft, then the figures for each number of rounds."""
        return [*self.figures, *(figure for one in self.rounds for figure in one.figures)]


def count(outcomes: Sequence[ItemOutcome], rates: Rates) -> Counted:
    """Return the figures for the outcomes of items. All items must have been simulated at these rates."""
    return Counted(
        items=len(outcomes),
        figures=_count_first(outcomes, rates),
        rounds=tuple(_count_rounds(outcomes, most, rates) for most in outcomes[0].passages),
    )


def _count_first(outcomes: Sequence[ItemOutcome], rates: Rates) -> tuple[Figure, ...]:
    items = len(outcomes)
    right = sum(one.first_right for one in outcomes)
    unknown = sum(one.verdict is Verdict.UNKNOWN for one in outcomes)
    flagged = [one for one in outcomes if one.verdict is Verdict.INCORRECT]
    flagged_wrong = sum(not one.first_right for one in flagged)
    passed_right = sum(one.first_right and one.verdict is Verdict.CORRECT for one in outcomes)
    counts = {
        "first_pass_accuracy": (right, items),
        "assessor_agreement": (passed_right + flagged_wrong, items - unknown),
        "assessor_recall": (flagged_wrong, items - right),
        "assessor_precision": (flagged_wrong, len(flagged)),
        "assessor_unknown": (unknown, items),
        "overall_expert_triggered": (sum(one.expert_right for one in outcomes), items),
    }
    expected = expect_first(rates)
    return tuple(
        Figure(name=name, numerator=numerator, denominator=denominator, expected=expected[name])
        for name, (numerator, denominator) in counts.items()
    )


def _count_rounds(outcomes: Sequence[ItemOutcome], most: int, rates: Rates) -> RoundsCounted:
    expected = expect_rounds(rates, rounds=most)
    passages = [one.passages[most] for one in outcomes]
    last = [one.last_right for one in passages]
    recommended = [one.recommended_right for one in passages]
    figures = [
        *_count_end(outcomes, last, "assessor_triggered", expected, refines=most > 0),
        *_count_end(outcomes, recommended, "as_recommended", expected, refines=most > 0),
        _count_calls(passages, expected["calls"]),
    ]
    return RoundsCounted(
        rounds=most,
        figures=tuple(figures),
        input_tokens=sum(one.input_tokens for one in passages),
        output_tokens=sum(one.output_tokens for one in passages),
        cost=sum(one.cost for one in passages),
    )


def _count_end(
    outcomes: Sequence[ItemOutcome],
    right_after: Sequence[bool],
    end: str,
    expected: Expected,
    *,
    refines: bool,
) -> list[Figure]:
    """Count the right, fixed and broken items for one kind of final Draft: the last or the recommended Draft."""
    pairs = list(zip(outcomes, right_after, strict=True))
    overall = _share(f"overall_{end}", right_after, expected)
    if not refines:
        return [overall]
    flagged = [(one, after) for one, after in pairs if one.verdict is Verdict.INCORRECT]
    fixed = [after for one, after in flagged if not one.first_right]
    broken = [not after for one, after in flagged if one.first_right]
    net = Net(
        name=f"net_{end}",
        numerator=sum(fixed) - sum(broken),
        denominator=len(pairs),
        expected=expected[f"net_{end}"],
        gained=sum(fixed),
        kept=sum(one.first_right for one in outcomes) - sum(broken),
    )
    return [
        overall,
        _share(f"fixed_{end}", fixed, expected),
        _share(f"broken_{end}", broken, expected),
        net,
    ]


def _share(name: str, happened: Sequence[bool], expected: Expected) -> Figure:
    return Figure(
        name=name, numerator=sum(happened), denominator=len(happened), expected=expected[name]
    )


def _count_calls(passages: Sequence[Passage], expected: Fraction | None) -> Mean:
    return Mean(
        name="calls",
        numerator=sum(one.calls for one in passages),
        denominator=len(passages),
        expected=expected,
        squares=sum(one.calls**2 for one in passages),
    )
