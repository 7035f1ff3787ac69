"""Quantiles for simultaneous intervals, and the interval of a mean; `core.intervals` has those of shares."""

from __future__ import annotations

import math
from statistics import NormalDist

from core.intervals import Interval


def quantile(confidence: float, *, figures: int = 1) -> float:
    """The two-sided `z` by which all of so many figures hold together (Bonferroni)."""
    return NormalDist().inv_cdf(1 - (1 - confidence) / (2 * figures))


def of_mean(total: int, squares: int, count: int, *, z: float) -> Interval:
    """A mean by the normal approximation, from the sum and the sum of squares of `count` values."""
    mean = total / count
    half = z * math.sqrt(max(0.0, squares / count - mean * mean) / count)
    return Interval(mean - half, mean + half)
