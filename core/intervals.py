"""Confidence intervals of shares and of paired differences of shares; `z` is the normal quantile of the level."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist
from typing import NamedTuple

Z = NormalDist().inv_cdf(0.975)  # 95 %, two-sided


class Interval(NamedTuple):
    low: float
    high: float

    def holds(self, value: float) -> bool:
        """Whether a value lies inside; its bounds do, whatever rounding made of them."""
        return self.low - 1e-9 <= value <= self.high + 1e-9


def wilson(numerator: int, denominator: int, *, z: float = Z) -> Interval:
    """Wilson's score interval for a share (Wilson 1927); raises ValueError for an empty whole."""
    if denominator < 1 or not 0 <= numerator <= denominator:
        raise ValueError(f"not a share: {numerator} of {denominator}")
    share, square = numerator / denominator, z * z
    centre = share + square / (2 * denominator)
    spread = z * sqrt(share * (1 - share) / denominator + square / (4 * denominator**2))
    scale = 1 + square / denominator
    return Interval(
        0.0 if numerator == 0 else (centre - spread) / scale,
        1.0 if numerator == denominator else (centre + spread) / scale,
    )


def newcombe(*, both: int, lost: int, gained: int, neither: int, z: float = Z) -> Interval:
    """The difference of two paired shares, after minus before (Newcombe 1998, paired data, method 10).

    Of the items `both` were right before and after, `lost` only before, `gained` only after. It joins the Wilson
    intervals of the two shares by their correlation, which is corrected for continuity where it is positive.
    Raises ValueError without items.
    """
    items = both + lost + gained + neither
    before, after = both + lost, both + gained
    before_low, before_high = wilson(before, items, z=z)
    after_low, after_high = wilson(after, items, z=z)
    first, second = before / items, after / items
    phi = _correlation(both, lost, gained, neither)
    value = (gained - lost) / items
    down = _joined(second - after_low, before_high - first, phi)
    up = _joined(after_high - second, first - before_low, phi)
    return Interval(max(-1.0, value - down), min(1.0, value + up))


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
