"""Agreement between reviewers at one stage, from counts: how alike their scores are, and beyond chance.

Two counts are kept of each item: the multiset of its values (how many gave 0, 1 and 2), which is all that
Krippendorff's alpha asks, and one cell for each pair of its reviewers, for the kappas. Both only grow or
shrink as items come and go, and the work to be done does not depend on the number of items. Labels are
fixed to 0, 1, 2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from math import isfinite
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from review.study.coefficients import (
    ALPHAS,
    PENALTIES,
    alphas_of,
    bootstrap_alpha,
    kappas_of,
    percents_of,
)
from review.study.patterns import ReviewerValues
from review.study.translation import mark as _

LEAST_JOINT_ITEMS = 20
NO_VARIATION = "no variation"
NO_PAIRS = "no item with two scores"
PAIR, MEAN_OF_PAIRS = "pair", "mean over pairs with at least 20 joint items"
TEXT = _(
    "From the value each reviewer gave before anything later, or anybody else’s, was visible; one given again "
    "after the item was sent back is not among them, and the figures too go by the one before. The headline is "
    "Krippendorff’s alpha, ordinal, which allows for missing scores; its interval is a percentile bootstrap over "
    "items. Percent is the share of agreeing pairs of all pairs of scores. With three or more reviewers the kappas "
    "are the mean over pairs with at least 20 joint items."
)


class Values(NamedTuple):
    """How many of an item's reviewers gave 0, 1 and 2."""

    zeros: int
    ones: int
    twos: int


class Cell(NamedTuple):
    """Two reviewers of one item, the lower key first, and what each gave."""

    a: int
    b: int
    value_a: int
    value_b: int


@dataclass(frozen=True)
class PairAgreement:
    """Two reviewers on their joint items; None where a measure is undefined for want of variation."""

    a: int
    b: int
    items: int
    percent: float
    cohen_kappa: float | None
    linear_kappa: float | None
    weighted_kappa: float | None
    strict_percent: float
    strict_kappa: float | None
    partial_percent: float
    partial_kappa: float | None


@dataclass(frozen=True)
class Agreement:
    """All measures of a stage. `undefined` says why there is no alpha, and is empty where there is one."""

    items: int
    percent: float | None
    cohen_kappa: float | None
    weighted_kappa: float | None
    kappa_basis: str
    krippendorff_alpha: float | None
    alpha_nominal: float | None
    alpha_interval: float | None
    low: float | None
    high: float | None
    undefined: str
    pairs: tuple[PairAgreement, ...]


def values_of(given: ReviewerValues) -> Values:
    """The multiset of an item's values."""
    values = [value for _reviewer, value in given]
    return Values(values.count(0), values.count(1), values.count(2))


def cells_of(given: ReviewerValues) -> Iterator[Cell]:
    """One cell for each pair of the item's reviewers."""
    for (a, value_a), (b, value_b) in combinations(sorted(given), 2):
        yield Cell(a, b, value_a, value_b)


def agreement_of(values: Mapping[Values, int], cells: Mapping[Cell, int]) -> Agreement:
    """Every measure, from the counts of both kinds over the same items; one score alone says nothing."""
    kept = sorted((key, times) for key, times in values.items() if times and sum(key) > 1)
    pairs = tuple(pair_up(cells))
    if not kept:
        return Agreement(0, None, None, None, PAIR, None, None, None, None, None, NO_PAIRS, pairs)
    multisets = np.array([key for key, _times in kept], dtype=np.float64)
    times = np.array([times for _key, times in kept], dtype=np.float64)
    nominal, ordinal, interval = (
        _number(alphas_of(multisets, times[np.newaxis], name)[0]) for name in ALPHAS
    )
    low, high = bootstrap_alpha(multisets, times) if ordinal is not None else (None, None)
    basis, counted = _basis(pairs)
    return Agreement(
        items=int(times.sum()),
        percent=_percent(kept),
        cohen_kappa=_mean(pair.cohen_kappa for pair in counted),
        weighted_kappa=_mean(pair.weighted_kappa for pair in counted),
        kappa_basis=basis,
        krippendorff_alpha=ordinal,
        alpha_nominal=nominal,
        alpha_interval=interval,
        low=low,
        high=high,
        undefined=NO_VARIATION if ordinal is None else "",
        pairs=pairs,
    )


def table_of_pair(cells: Mapping[Cell, int], a: int, b: int) -> NDArray[np.float64]:
    """What both gave, as a table: the row is a's value, the column b's."""
    table = np.zeros((3, 3))
    for cell, times in cells.items():
        if (cell.a, cell.b) == (a, b):
            table[cell.value_a, cell.value_b] += times
        elif (cell.a, cell.b) == (b, a):
            table[cell.value_b, cell.value_a] += times
    return table


def pair_up(cells: Mapping[Cell, int]) -> Iterator[PairAgreement]:
    """The agreement of each pair that has joint items, in the order of their keys."""
    tables: dict[tuple[int, int], NDArray[np.float64]] = {}
    for cell, times in cells.items():
        table = tables.setdefault((cell.a, cell.b), np.zeros((3, 3)))
        table[cell.value_a, cell.value_b] += times
    names = sorted(name for name, table in tables.items() if table.any())
    if not names:
        return
    stack = np.stack([tables[name] for name in names])
    percents = {name: percents_of(stack, penalty) for name, penalty in PENALTIES.items()}
    kappas = {name: kappas_of(stack, penalty) for name, penalty in PENALTIES.items()}
    for place, (a, b) in enumerate(names):
        yield PairAgreement(
            a=a,
            b=b,
            items=int(stack[place].sum()),
            percent=float(percents["nominal"][place]),
            cohen_kappa=_number(kappas["nominal"][place]),
            linear_kappa=_number(kappas["linear"][place]),
            weighted_kappa=_number(kappas["quadratic"][place]),
            strict_percent=float(percents["strict"][place]),
            strict_kappa=_number(kappas["strict"][place]),
            partial_percent=float(percents["partial"][place]),
            partial_kappa=_number(kappas["partial"][place]),
        )


def _basis(pairs: tuple[PairAgreement, ...]) -> tuple[str, list[PairAgreement]]:
    if len(pairs) < 2:
        return PAIR, list(pairs)
    return MEAN_OF_PAIRS, [pair for pair in pairs if pair.items >= LEAST_JOINT_ITEMS]


def _percent(kept: list[tuple[Values, int]]) -> float:
    agreeing = sum(times * sum(n * (n - 1) for n in key) for key, times in kept)
    return agreeing / sum(times * sum(key) * (sum(key) - 1) for key, times in kept)


def _mean(numbers: Iterable[float | None]) -> float | None:
    """The mean of those that are defined; None where none is."""
    defined = [number for number in numbers if number is not None]
    return sum(defined) / len(defined) if defined else None


def _number(value: np.float64) -> float | None:
    return float(value) if isfinite(value) else None
