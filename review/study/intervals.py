"""Shares and paired differences of shares with their 95 % intervals, and McNemar's exact test."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, lgamma, log

from core.intervals import newcombe, wilson


@dataclass(frozen=True)
class Share:
    """A part of a whole with its Wilson interval; an empty whole has no value and no bounds, never 0."""

    numerator: int
    denominator: int
    value: float | None
    low: float | None
    high: float | None

    @classmethod
    def of(cls, numerator: int, denominator: int) -> Share:
        if not denominator:
            return cls(numerator, denominator, None, None, None)
        low, high = wilson(numerator, denominator)
        return cls(numerator, denominator, numerator / denominator, low, high)

    def as_json(self) -> dict[str, object]:
        return {
            "numerator": self.numerator,
            "denominator": self.denominator,
            "value": self.value,
            "low": self.low,
            "high": self.high,
        }


@dataclass(frozen=True)
class Difference:
    """Two shares of the same items: `gained` are right only after, `lost` only before.

    The value is after minus before, with its interval and the p value of McNemar's exact test.
    """

    gained: int
    lost: int
    items: int
    value: float | None
    low: float | None
    high: float | None
    p_value: float | None

    @classmethod
    def of(cls, *, both: int, lost: int, gained: int, neither: int) -> Difference:
        items = both + lost + gained + neither
        if not items:
            return cls(gained, lost, 0, None, None, None, None)
        low, high = newcombe(both=both, lost=lost, gained=gained, neither=neither)
        value = (gained - lost) / items
        return cls(gained, lost, items, value, low, high, mcnemar_exact(gained, lost))


def mcnemar_exact(gained: int, lost: int) -> float:
    """The two-sided p value of McNemar's exact test: a fair coin for each item that changed."""
    changed, fewer = gained + lost, min(gained, lost)
    if gained == lost:
        return 1.0
    # From the largest term of the tail downwards, in logarithms: no power of 2 runs out of range.
    term = exp(
        lgamma(changed + 1) - lgamma(fewer + 1) - lgamma(changed - fewer + 1) - changed * log(2)
    )
    tail = 0.0
    for count in range(fewer, -1, -1):
        if tail + term == tail:
            break
        tail += term
        term *= count / (changed - count + 1)
    return min(1.0, 2 * tail)
