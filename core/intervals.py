"""How far a share can be trusted; `z` is the normal quantile of the level."""

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
