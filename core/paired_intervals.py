"""Confidence intervals of shares, for the simulation and for studies alike; `z` is the normal quantile of the level."""

from __future__ import annotations

from math import sqrt

from core.intervals import Interval, Z, wilson

__all__ = ["Interval", "Z", "newcombe", "wilson"]


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
