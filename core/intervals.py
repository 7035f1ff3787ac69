"""Confidence intervals for proportions and paired differences. `z` is the normal quantile for the confidence level."""

from __future__ import annotations

from functools import lru_cache
from math import exp, lgamma, log, sqrt
from statistics import NormalDist
from typing import NamedTuple

Z = NormalDist().inv_cdf(0.975)  # 95%, two-sided


class Interval(NamedTuple):
    low: float
    high: float

    def holds(self, value: float) -> bool:
        """Return whether the interval contains a value. The bounds are included, with a tolerance for rounding."""
        return self.low - 1e-9 <= value <= self.high + 1e-9


def wilson(numerator: float, denominator: float, *, z: float = Z) -> Interval:
    """Return Wilson's score interval for a proportion (Wilson 1927). Raises ValueError for an invalid proportion.

    The arguments can be fractions, because the effective number of dependent items is rarely an integer.
    """
    if denominator <= 0 or not 0 <= numerator <= denominator:
        raise ValueError(f"not a share: {numerator} of {denominator}")
    share, square = numerator / denominator, z * z
    centre = share + square / (2 * denominator)
    spread = z * sqrt(share * (1 - share) / denominator + square / (4 * denominator**2))
    scale = 1 + square / denominator
    return Interval(
        0.0 if numerator == 0 else (centre - spread) / scale,
        1.0 if numerator == denominator else (centre + spread) / scale,
    )


def newcombe(*, both: float, lost: float, gained: float, neither: float, z: float = Z) -> Interval:
    """Return the interval for the difference between two paired proportions (Newcombe 1998, paired data, method 10).

    The difference is after minus before. `both` items were right before and after, `lost` items only before, and
    `gained` items only after. The method combines the Wilson intervals of the two proportions, using their correlation.
    For a positive correlation, the method applies a continuity correction. Raises ValueError if there are no items.
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


def _correlation(both: float, lost: float, gained: float, neither: float) -> float:
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


@lru_cache(maxsize=4_096)
def t_quantile(freedom: int, level: float = 0.975) -> float:
    """Return the quantile of Student's t distribution for a level above one half.

    Raises ValueError for fewer than one degree of freedom.
    """
    if freedom < 1:
        raise ValueError(f"not degrees of freedom: {freedom}")
    low, high = 0.0, 2.0
    while _t_upper(high, freedom) > 1 - level:
        low, high = high, high * 2
    # Sixty bisections reach floating-point precision.
    for _ in range(60):
        middle = (low + high) / 2
        if _t_upper(middle, freedom) > 1 - level:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _t_upper(t: float, freedom: int) -> float:
    """Return the probability of a value above `t`, using the regularized incomplete beta function."""
    return _beta_share(freedom / (freedom + t * t), freedom / 2, 0.5) / 2


def _beta_share(x: float, a: float, b: float) -> float:
    """Return the regularized incomplete beta function, using its continued fraction (Lentz's algorithm)."""
    if x <= 0 or x >= 1:
        return max(0.0, min(1.0, x))
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta_share(1 - x, b, a)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(1 - x)) / a
    tiny = 1e-300
    value, c, d = 1.0, 1.0, 0.0
    for step in range(10_000):
        m = step // 2
        if not step:
            term = 1.0
        elif step % 2:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 / ((1 + term * d) or tiny)
        c = (1 + term / c) or tiny
        value *= c * d
        if step and abs(c * d - 1) < 1e-15:
            break
    return front * (value - 1)
