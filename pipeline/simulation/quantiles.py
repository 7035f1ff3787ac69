"""Quantiles for simultaneous intervals, and the interval of a mean. `core.intervals` has intervals for proportions."""

from __future__ import annotations

import math
from statistics import NormalDist

from core.intervals import Interval


def quantile(confidence: float, *, figures: int = 1) -> float:
    """Return the two-sided `z` for the simultaneous confidence level of `figures` intervals (Bonferroni)."""
    return NormalDist().inv_cdf(1 - (1 - confidence) / (2 * figures))


def of_mean(total: int, squares: int, count: int, *, z: float) -> Interval:
    """Return the normal-approximation interval of a mean, from the sum and sum of squares of `count` values."""
    mean = total / count
    half = z * math.sqrt(max(0.0, squares / count - mean * mean) / count)
    return Interval(mean - half, mean + half)
