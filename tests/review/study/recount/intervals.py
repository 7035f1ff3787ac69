"""Compute intervals and p values directly from their formulas, and exactly if possible."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from math import atan, comb, cos, pi, sin, sqrt
from statistics import NormalDist
from typing import Any

Z = NormalDist().inv_cdf(0.975)
Interval = tuple[float, float] | None
Part = tuple[int, int]  # an item's contribution to a figure: numerator and denominator
NOTHING: Part = (0, 0)


def wilson(value: float, n: float) -> tuple[float, float]:
    """Return Wilson's score interval (1927) for a share of n, which need not be an integer."""
    middle = value + Z * Z / (2 * n)
    half = Z * sqrt(value * (1 - value) / n + Z * Z / (4 * n * n))
    low, high = ((middle + side * half) / (1 + Z * Z / n) for side in (-1, 1))
    return (0.0 if value == 0 else max(0.0, low)), (1.0 if value == 1 else min(1.0, high))


@cache
def t_quantile(freedom: int) -> float:
    """Return the 97.5% point of Student's t, by bisection of the finite sums for integer degrees of freedom."""
    low, high = 0.0, 20.0
    for _ in range(200):
        middle = (low + high) / 2
        if _t_inside(middle, freedom) < 0.95:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _t_inside(t: float, freedom: int) -> float:
    """Return the probability between -t and t (Abramowitz and Stegun 26.7.3 and 26.7.4)."""
    angle = atan(t / sqrt(freedom))
    if freedom % 2:
        total, term = 0.0, cos(angle)
        for step in range(1, freedom - 1, 2):
            total += term
            term *= cos(angle) ** 2 * (step + 1) / (step + 2)
        return 2 / pi * (angle + sin(angle) * total)
    total, term = 0.0, 1.0
    for step in range(1, freedom, 2):
        total += term
        term *= cos(angle) ** 2 * step / (step + 1)
    return sin(angle) * total


def share_interval(
    given: Sequence[tuple[str, int]], *, repeats: bool
) -> tuple[Interval, float | None]:
    """Return the confidence interval of a proportion, and its design effect if statements repeat.

    Each item in `given` is a pair of its statement and 0 or 1.
    """
    n = len(given)
    if n == 0:
        return None, None
    p = sum(right for _statement, right in given) / n
    if not repeats:
        return wilson(p, n), None
    groups: dict[str, list[int]] = defaultdict(list)
    for statement, right in given:
        groups[statement].append(right)
    k = len(groups)
    if k < 2:
        return None, None
    if p in (0, 1):
        return wilson(p, k), n / k
    spread = sum((sum(one) - p * len(one)) ** 2 for one in groups.values())
    deff = max(1.0, k / (k - 1) * spread / (n * p * (1 - p)))
    return wilson(p, n / deff * (Z / t_quantile(k - 1)) ** 2), deff


def share_of(given: Sequence[tuple[str, int]], *, repeats: bool) -> dict[str, Any]:
    """Return a share as in reports, from each item's statement and the value that the item adds."""
    n, added = len(given), sum(one for _statement, one in given)
    is_share = all(one in (0, 1) for _statement, one in given)
    interval, deff = share_interval(given, repeats=repeats) if is_share else (None, None)
    low, high = interval or (None, None)
    return {
        "numerator": added,
        "denominator": n,
        "value": added / n if n else None,
        "low": low,
        "high": high,
        "deff": deff,
    }


def change_of(pairs: Sequence[tuple[str, int, int]], *, repeats: bool) -> dict[str, Any]:
    """Return a paired difference as in reports, from (statement, first, second) of each item."""
    differences: dict[str, int] = defaultdict(int)
    for statement, x, y in pairs:
        differences[statement] += y - x
    interval, deff = paired_interval(pairs, repeats=repeats)
    low, high = interval or (None, None)
    n = len(pairs)
    return {
        "gained": sum(x < y for _s, x, y in pairs),
        "lost": sum(x > y for _s, x, y in pairs),
        "items": n,
        "value": sum(y - x for _s, x, y in pairs) / n if n else None,
        "low": low,
        "high": high,
        "deff": deff,
        "p_value": sign_flip(list(differences.values())) if n else None,
    }


def paired_interval(
    pairs: Sequence[tuple[str, int, int]], *, repeats: bool
) -> tuple[Interval, float | None]:
    """Return Newcombe's method 10 interval (1998) for the second minus the first share, and the design effect.

    `pairs` has (statement, first, second) of each item.
    """
    n = len(pairs)
    if n == 0:
        return None, None
    deff = None
    if repeats:
        deff = _deff_of_differences(pairs)
        if deff is None:
            return None, None
    cells = [sum((x, y) == cell for _s, x, y in pairs) for cell in ((1, 1), (1, 0), (0, 1), (0, 0))]
    return newcombe(*(cell / (deff or 1.0) for cell in cells)), deff


def _deff_of_differences(pairs: Sequence[tuple[str, int, int]]) -> float | None:
    n, groups = len(pairs), defaultdict(list)
    for statement, x, y in pairs:
        groups[statement].append(y - x)
    k = len(groups)
    if k < 2:
        return None
    if all(x == y for _s, x, y in pairs):
        return n / k
    mean = sum(y - x for _s, x, y in pairs) / n
    spread = sum((sum(one) - mean * len(one)) ** 2 for one in groups.values())
    within = sum((y - x - mean) ** 2 for _s, x, y in pairs)
    return max(1.0, k / (k - 1) * spread / within) if within else n / k


def newcombe(a: float, b: float, c: float, d: float) -> tuple[float, float]:
    """Return Newcombe's method 10 interval, second minus first share, for a 2 x 2 table.

    The table has a items right in both, b only in the first, c only in the second, and d in neither.
    """
    n = a + b + c + d
    first, second = (a + b) / n, (a + c) / n
    (low1, high1), (low2, high2) = wilson(first, n), wilson(second, n)
    edges = (a + b) * (c + d) * (a + c) * (b + d)
    phi = 0.0
    if edges > 0:
        top = a * d - b * c
        phi = (max(top - n / 2, 0) if top > 0 else top) / sqrt(edges)
    difference = second - first
    down2, up2 = second - low2, high2 - second
    down1, up1 = first - low1, high1 - first
    low = difference - sqrt(max(0.0, down2**2 - 2 * phi * down2 * up1 + up1**2))
    high = difference + sqrt(max(0.0, up2**2 - 2 * phi * up2 * down1 + down1**2))
    return low, high


def mcnemar(b: int, c: int) -> float:
    """Return the exact two-sided p value for b and c discordant items."""
    n = b + c
    tail = sum(comb(n, one) for one in range(min(b, c) + 1))
    return min(1.0, 2 * tail / 2**n)


def sign_flip(differences: Sequence[int]) -> float:
    """Return the two-sided p value: the share of all swaps of arms by statement with a difference at least as large."""
    ways = {0: 1}
    for one in differences:
        if one == 0:
            continue
        swapped: dict[int, int] = defaultdict(int)
        for total, count in ways.items():
            swapped[total + one] += count
            swapped[total - one] += count
        ways = swapped
    seen = abs(sum(differences))
    return sum(count for total, count in ways.items() if abs(total) >= seen) / sum(ways.values())


def holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm's adjusted p values (1979) in the given order."""
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    adjusted, highest = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = highest
    return adjusted


def bounds(items: list[set[Part]], *, is_net: bool = False) -> tuple[float, float] | None:
    """Return the lowest and highest value of all completions. Completions with an empty denominator are ignored."""
    if is_net:
        if not items:
            return None
        least = sum(min(part[0] for part in parts) for parts in items)
        most = sum(max(part[0] for part in parts) for parts in items)
        return least / len(items), most / len(items)
    ends = []
    for wanted in (((0, 1), NOTHING, (1, 1)), ((1, 1), NOTHING, (0, 1))):
        chosen = [next(part for part in wanted if part in parts) for parts in items]
        n = sum(part[1] for part in chosen)
        ends.append(sum(part[0] for part in chosen) / n if n else None)
    low, high = ends
    # If no item counts at one end, the value of the other end applies to both.
    if low is None or high is None:
        either = low if high is None else high
        return None if either is None else (either, either)
    return low, high


def post_stratified(strata: list[list[set[Part]]]) -> float | None:
    """Return the mean of the closed items' values over strata, weighted by the number of all items in each stratum."""
    total, weight = 0.0, 0
    for items in strata:
        members = [parts for parts in items if parts != {NOTHING}]
        closed = [next(iter(parts)) for parts in members if len(parts) == 1]
        if not members:
            continue
        if not closed:
            return None
        total += len(members) * sum(part[0] for part in closed) / len(closed)
        weight += len(members)
    return total / weight if weight else None
