"""Intervals and tests for shares and for paired shares; 95 %, two-sided."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, lgamma, log, sqrt
from statistics import NormalDist
from typing import NamedTuple

Z = NormalDist().inv_cdf(0.975)


class Interval(NamedTuple):
    low: float
    high: float


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
        low, high = newcombe_paired(both=both, lost=lost, gained=gained, neither=neither)
        value = (gained - lost) / items
        return cls(gained, lost, items, value, low, high, mcnemar_exact(gained, lost))


def wilson(numerator: int, denominator: int) -> Interval:
    """Wilson's score interval for a share (Wilson 1927); raises ValueError for an empty whole."""
    if denominator < 1 or not 0 <= numerator <= denominator:
        raise ValueError(f"not a share: {numerator} of {denominator}")
    share, square = numerator / denominator, Z * Z
    centre = share + square / (2 * denominator)
    spread = Z * sqrt(share * (1 - share) / denominator + square / (4 * denominator**2))
    scale = 1 + square / denominator
    return Interval(
        0.0 if numerator == 0 else (centre - spread) / scale,
        1.0 if numerator == denominator else (centre + spread) / scale,
    )


def newcombe_paired(*, both: int, lost: int, gained: int, neither: int) -> Interval:
    """The difference of two paired shares, after minus before (Newcombe 1998, paired data, method 10).

    It joins the Wilson intervals of the two shares by their correlation, which is corrected for
    continuity where it is positive. Raises ValueError without items.
    """
    items = both + lost + gained + neither
    before, after = both + lost, both + gained
    before_low, before_high = wilson(before, items)
    after_low, after_high = wilson(after, items)
    first, second = before / items, after / items
    phi = _correlation(both, lost, gained, neither)
    value = (gained - lost) / items
    down = _joined(second - after_low, before_high - first, phi)
    up = _joined(after_high - second, first - before_low, phi)
    return Interval(max(-1.0, value - down), min(1.0, value + up))


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


def _correlation(both: int, lost: int, gained: int, neither: int) -> float:
    items = both + lost + gained + neither
    margins = (both + lost) * (gained + neither) * (both + gained) * (lost + neither)
    if not margins:
        return 0.0
    product = float(both * neither - lost * gained)
    if product > 0:
        product = max(product - items / 2, 0.0)
    return product / sqrt(margins)


def _joined(one: float, other: float, phi: float) -> float:
    return sqrt(max(0.0, one * one - 2 * phi * one * other + other * other))
