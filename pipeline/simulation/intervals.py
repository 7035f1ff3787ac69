"""Confidence intervals, each for any level: `z` is the standard normal quantile of it."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple


class Interval(NamedTuple):
    low: float
    high: float

    def holds(self, value: float) -> bool:
        """Whether a value lies inside; its bounds do, whatever rounding made of them."""
        return self.low - 1e-9 <= value <= self.high + 1e-9


def quantile(confidence: float, *, figures: int = 1) -> float:
    """The two-sided `z` by which all of so many figures hold together (Bonferroni)."""
    return NormalDist().inv_cdf(1 - (1 - confidence) / (2 * figures))


def wilson(successes: int, trials: int, *, z: float) -> Interval:
    """Wilson's score interval of a proportion; `trials` is at least 1."""
    share = successes / trials
    spread = z * z / trials
    middle = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * math.sqrt(share * (1 - share) / trials + spread / (4 * trials))
    return Interval(max(0.0, middle - half), min(1.0, middle + half))


def newcombe(*, gained: int, lost: int, kept: int, items: int, z: float) -> Interval:
    """A paired difference, after minus before: Newcombe's method 10 (Statistics in Medicine, 1998).

    Of `items`, `gained` became right, `lost` ceased to be, `kept` were right both times.
    """
    never = items - gained - lost - kept
    before, after = kept + lost, kept + gained
    low_before, high_before = wilson(before, items, z=z)
    low_after, high_after = wilson(after, items, z=z)
    phi = _correlation(kept=kept, lost=lost, gained=gained, never=never)
    share_before, share_after = before / items, after / items
    difference = share_after - share_before
    down, up = share_after - low_after, high_before - share_before
    below = down**2 - 2 * phi * down * up + up**2
    down, up = share_before - low_before, high_after - share_after
    above = down**2 - 2 * phi * down * up + up**2
    return Interval(
        difference - math.sqrt(max(0.0, below)), difference + math.sqrt(max(0.0, above))
    )


def of_mean(total: int, squares: int, count: int, *, z: float) -> Interval:
    """A mean by the normal approximation, from the sum and the sum of squares of `count` values."""
    mean = total / count
    half = z * math.sqrt(max(0.0, squares / count - mean * mean) / count)
    return Interval(mean - half, mean + half)


def _correlation(*, kept: int, lost: int, gained: int, never: int) -> float:
    margins = (kept + lost) * (gained + never) * (kept + gained) * (lost + never)
    if not margins:
        return 0.0
    product = kept * never - lost * gained
    # Newcombe's correction for continuity, which only ever lowers a positive correlation.
    corrected = max(0.0, product - (kept + lost + gained + never) / 2) if product > 0 else product
    return corrected / math.sqrt(margins)
