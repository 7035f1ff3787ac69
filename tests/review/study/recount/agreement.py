"""Compute the agreement of reviewers on a stage, with bootstrap intervals over statements."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import combinations
from math import erfc
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tests.review.study.recount.finals import independent
from tests.review.study.recount.intervals import t_quantile
from tests.review.study.recount.records import Record, Study, Text, text_of

Array = NDArray[np.float64]
# The total number of sampled statements, and the limits for the number of bootstrap samples. With fewer statements,
# samples vary more, so stable interval ends need more samples.
DRAWN, LEAST_DRAWS, MOST_DRAWS = 8_000_000, 20_000, 60_000
# The numbers of bootstrap samples that the product documents, for 500 statements and for fewer.
PRODUCTS_LEAST, PRODUCTS_MOST, PRODUCTS_DRAWN = 2_000, 20_000, 4_000_000
# Number of standard errors that chance does not exceed in ten thousand interval ends.
_ERRORS = 5
_HELD = 2_000_000  # maximum number of values in memory at a time
LEAST_STATEMENTS, LEAST_JOINT = 20, 20
_STEP = np.abs(np.subtract.outer(np.arange(3.0), np.arange(3.0)))
NOMINAL, LINEAR, SQUARE = (_STEP > 0).astype(float), _STEP / 2, _STEP**2 / 4
# Gwet's ordinal weights for the scores 0, 1 and 2, by the difference of two scores.
NEARNESS = {0: 3 / 3, 1: 2 / 3, -1: 2 / 3, 2: 0, -2: 0}
STRICT, PARTIAL = ([0, 1], [2]), ([0], [1, 2])


class Layout:
    """The positions of the sums in a statement's row."""

    def __init__(self, reviewers: list[str]) -> None:
        self.reviewers = reviewers
        self.pairs = list(combinations(reviewers, 2))
        self.size = 0
        self.tables = {pair: self._take(9) for pair in self.pairs}
        self.coincidences = self._take(9)
        self.alike = self._take(2)  # agreeing pairs of scores, and all pairs
        self.ac1 = self._take(
            4
        )  # agreement of units with two scores, number of such units, share right, all units
        self.ac2 = self._take(
            6
        )  # weighted agreement, units with two, share of each value, all units
        self.fleiss = self._take(
            5
        )  # agreement of units, number of units, share of each value except one
        self.leniency = {reviewer: self._take(2) for reviewer in reviewers}

    def _take(self, width: int) -> slice:
        self.size += width
        return slice(self.size - width, self.size)


Unit = tuple[str, dict[str, int]]  # the statement, and each reviewer's value


def units_of(study: Study, stage: str, configuration: str | None = None) -> list[Unit]:
    """Return the scored units. Each text is one unit."""
    found: dict[Text, Record] = {}
    for item in study.items:
        if configuration in (None, item["configuration"]):
            found.setdefault(text_of(item, stage), item)
    rated = ((item["statement"], independent(study, item, stage)) for item in found.values())
    return [(statement, values) for statement, values in rated if values]


def _sums(units: list[Unit], layout: Layout) -> tuple[Array, NDArray[np.bool_]]:
    """Return a row of sums for each statement, and whether each statement has a unit with two scores."""
    rows: dict[str, Array] = defaultdict(lambda: np.zeros(layout.size))
    paired = set()
    for statement, values in units:
        row, count = rows[statement], len(values)
        right = sum(value == 2 for value in values.values())
        row[layout.ac1] += [0, 0, right / count, 1]
        shares = [sum(v == value for v in values.values()) / count for value in range(3)]
        row[layout.ac2] += [0, 0, *shares, 1]
        if count < 2:
            continue
        paired.add(statement)
        wrong = count - right
        row[layout.ac1][:2] += [
            (right * (right - 1) + wrong * (wrong - 1)) / (count * (count - 1)),
            1,
        ]
        same = close = 0
        for a, b in combinations(sorted(values), 2):
            x, y = values[a], values[b]
            same += x == y
            close += NEARNESS[x - y]
            row[layout.tables[a, b]][3 * x + y] += 1
            for first, second in ((x, y), (y, x)):
                row[layout.coincidences][3 * first + second] += 1 / (count - 1)
        pairs = count * (count - 1) / 2
        row[layout.alike] += [same, pairs]
        row[layout.ac2][:2] += [close / pairs, 1]
        row[layout.fleiss] += [same / pairs, 1, *shares]
        for reviewer, value in values.items():
            others = [other for name, other in values.items() if name != reviewer]
            row[layout.leniency[reviewer]] += [value - sum(others) / len(others), 1]
    matrix = np.array(list(rows.values())).reshape(len(rows), layout.size)
    return matrix, np.array([statement in paired for statement in rows], dtype=bool)


def _ratio(top: Array, bottom: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.abs(bottom) > 1e-12, top / bottom, np.nan)


def kappa(table: Array, weights: Array) -> Array:
    """Return Cohen's kappa (1960, 1968) of the tables in the last two axes: 1 - weighted observed / expected."""
    n = table.sum((-1, -2))
    expected = np.einsum("...i,...j,ij->...", table.sum(-1), table.sum(-2), weights)
    return 1 - _ratio(n * (table * weights).sum((-1, -2)), expected)


def alpha(coincidences: Array, level: str) -> Array:
    """Return Krippendorff's alpha of coincidence matrices: 1 - D_o / D_e with the level's squared distances."""
    counts = coincidences.sum(-1)
    n = counts.sum(-1)
    if level == "ordinal":
        distance = np.zeros((*counts.shape, 3))
        for c in range(3):
            for k in range(3):
                low, high = min(c, k), max(c, k)
                between = counts[..., low : high + 1].sum(-1)
                distance[..., c, k] = (between - (counts[..., c] + counts[..., k]) / 2) ** 2
    else:
        distance = np.broadcast_to(NOMINAL if level == "nominal" else _STEP**2, coincidences.shape)
    observed = (coincidences * distance).sum((-1, -2))
    expected = (counts[..., :, None] * counts[..., None, :] * distance).sum((-1, -2))
    return 1 - _ratio((n - 1) * observed, expected)


def collapse(table: Array, groups: tuple[list[int], list[int]]) -> Array:
    """Combine the values into wrong and right, and return the 2 x 2 table."""
    rows = [table[..., group, :].sum(-2) for group in groups]
    both = [np.stack([row[..., group].sum(-1) for group in groups], -1) for row in rows]
    return np.stack(both, -2)


_WEIGHTS = {"cohen_kappa": NOMINAL, "linear_kappa": LINEAR, "weighted_kappa": SQUARE}
Measured = dict[str, Array]
Key = Any  # a name, or (pair, name), or (reviewer, "leniency")


def of_pair(cells: Array) -> Measured:
    """Return every measure of two reviewers from rows of nine counts."""
    table = cells.reshape(-1, 3, 3)
    found = {name: kappa(table, weight) for name, weight in _WEIGHTS.items()}
    found["percent"] = _ratio(np.einsum("bii->b", table), table.sum((1, 2)))
    for name, groups in (("strict", STRICT), ("partial", PARTIAL)):
        small = collapse(table, groups)
        found[f"{name}_percent"] = _ratio(np.einsum("bii->b", small), small.sum((1, 2)))
        found[f"{name}_kappa"] = kappa(small, NOMINAL[:2, :2])
    return found


def of_pairs(sums: Array, layout: Layout, averaged: dict[str, list[tuple[str, str]]]) -> Measured:
    """Return each kappa as the mean over its pairs. The mean is undefined if one pair's kappa is undefined."""
    found: Measured = {}
    for name, pairs in averaged.items():
        each = [of_pair(sums[:, layout.tables[pair]])[name] for pair in pairs]
        found[name] = sum(each[1:], each[0]) / len(each)
    return found


def _take_means(
    found: dict[str, Any], sums: Array, layout: Layout, kept: list[tuple[str, str]]
) -> None:
    """Add the mean kappas over those kept pairs whose kappa is defined on all statements together."""
    whole = {pair: of_pair(sums[:, layout.tables[pair]].sum(0)) for pair in kept}
    averaged = {
        name: [pair for pair in kept if not np.isnan(whole[pair][name][0])] for name in _WEIGHTS
    }
    averaged = {name: pairs for name, pairs in averaged.items() if pairs}
    joint = sum((sums[:, layout.tables[pair]].sum(1) for pair in kept), np.zeros(len(sums)))
    _take(found, "", sums[joint > 0], lambda rows: of_pairs(rows, layout, averaged))


def of_stage(sums: Array, layout: Layout) -> Measured:
    """Return every measure of all reviewers together, except AC1, AC2 and the kappas of pairs."""
    found: Measured = {}
    coincidences = sums[:, layout.coincidences].reshape(-1, 3, 3)
    found["krippendorff_alpha"] = alpha(coincidences, "ordinal")
    found["alpha_nominal"] = alpha(coincidences, "nominal")
    found["alpha_interval"] = alpha(coincidences, "interval")
    alike = sums[:, layout.alike]
    found["percent"] = _ratio(alike[:, 0], alike[:, 1])
    fleiss = sums[:, layout.fleiss]
    agreeing = _ratio(fleiss[:, 0], fleiss[:, 1])
    expected = (_ratio(fleiss[:, 2:], fleiss[:, 1:2]) ** 2).sum(1)
    found["fleiss_kappa"] = _ratio(agreeing - expected, 1 - expected)
    return found


def of_ac1(ac1: Array) -> Measured:
    """Return Gwet's AC1 under the strict criterion."""
    agreeing, share = _ratio(ac1[:, 0], ac1[:, 1]), _ratio(ac1[:, 2], ac1[:, 3])
    chance = 2 * share * (1 - share)
    return {"ac1": _ratio(agreeing - chance, 1 - chance)}


def of_ac2(ac2: Array) -> Measured:
    """Return Gwet's AC2 (2014) with ordinal weights. The sum of the 9 weights is 17/3, and 17/3 / (3 * 2) is 17/18."""
    agreeing = _ratio(ac2[:, 0], ac2[:, 1])
    shares = _ratio(ac2[:, 2:5], ac2[:, 5:])
    chance = (shares * (1 - shares)).sum(1) * 17 / 18
    return {"ac2": _ratio(agreeing - chance, 1 - chance)}


def _leniency(rows: Array) -> Measured:
    return {"leniency": _ratio(rows[:, 0], rows[:, 1])}


def agreement_of(study: Study, stage: str, configuration: str | None = None) -> dict[str, Any]:
    """Return every defined statistic of the stage with its interval."""
    units = units_of(study, stage, configuration)
    reviewers = sorted({name for _s, values in units for name in values})
    layout = Layout(reviewers)
    sums, paired = _sums(units, layout)
    joint = [values for _s, values in units if len(values) > 1]
    total = sums.sum(0)
    n_pairs = {pair: int(total[layout.tables[pair]].sum()) for pair in layout.pairs}
    there = [pair for pair in layout.pairs if n_pairs[pair]]
    kept = [pair for pair in there if n_pairs[pair] >= LEAST_JOINT] if len(there) > 1 else there
    found: dict[str, Any] = {"items": len(joint), "values": {}, "intervals": {}}
    found["statements"] = int(paired.sum())
    found["pairs"] = {pair: n_pairs[pair] for pair in there}
    found["leniency_items"] = {
        reviewer: int(total[layout.leniency[reviewer]][1]) for reviewer in reviewers
    }
    if not joint:
        return found
    _take(found, "", sums[paired], lambda rows: of_stage(rows, layout))
    _take_means(found, sums, layout, kept)
    # Fleiss' kappa requires the same number of reviewers for every item.
    if len({len(values) for _s, values in units}) > 1:
        found["values"].pop("fleiss_kappa", None)
        found["intervals"].pop("fleiss_kappa", None)
    enough = bool(paired.sum() >= LEAST_STATEMENTS)
    _take(found, "", sums[:, layout.ac1], of_ac1, is_drawn=enough)
    _take(found, "", sums[:, layout.ac2], of_ac2, is_drawn=enough)
    for pair in there:
        rows = sums[:, layout.tables[pair]]
        _take(found, pair, rows[rows.sum(1) > 0], of_pair)
    for reviewer in reviewers:
        rows = sums[:, layout.leniency[reviewer]]
        rows = rows[rows[:, 1] > 0]
        if len(rows):
            _take(found, reviewer, rows, _leniency)
    return found


def _take(
    found: dict[str, Any],
    whose: object,
    rows: Array,
    measure: Callable[[Array], Measured],
    *,
    is_drawn: bool = True,
) -> None:
    """Add a measure's value over all given statements, and its intervals."""
    for name, value in measure(rows.sum(0, keepdims=True)).items():
        if not np.isnan(value[0]):
            found["values"][(whose, name) if whose else name] = float(value[0])
    if len(rows) < LEAST_STATEMENTS or not is_drawn:
        return
    for name, ends in _bootstrap(rows, measure).items():
        key = (whose, name) if whose else name
        if key in found["values"]:
            found["intervals"][key] = ends


class Drawn(NamedTuple):
    """A bootstrap interval, with the range in which chance may place each end for as few samples as the product's."""

    low: float
    high: float
    lowest: tuple[float, float]
    highest: tuple[float, float]


def _bootstrap(rows: Array, measure: Callable[[Array], Measured]) -> dict[str, Drawn]:
    """Return percentile intervals from statements sampled with replacement. With few statements, t widens the
    intervals."""
    generator, parts = np.random.default_rng(7), defaultdict(list)
    # Sample identical statements together. This has the same distribution and needs fewer random numbers.
    kinds, counts = np.unique(rows, axis=0, return_counts=True)
    k = len(rows)
    draws = min(MOST_DRAWS, max(LEAST_DRAWS, DRAWN // k))
    most = max(1, _HELD // max(kinds.shape))
    for start in range(0, draws, most):
        times = generator.multinomial(k, counts / k, min(most, draws - start))
        for name, values in measure(times @ kinds).items():
            parts[name].append(values)
    found = {}
    for name, drawn in parts.items():
        every = np.concatenate(drawn)
        defined = every[~np.isnan(every)]
        if len(defined) < 0.95 * len(every):
            continue
        beyond = _beyond(k)
        low, high = np.quantile(defined, [beyond, 1 - beyond])
        if high - low >= 1e-12:
            found[name] = Drawn(float(low), float(high), *_ranges(defined, k))
    return found


def _beyond(statements: int) -> float:
    """Return the share of samples beyond an interval end, the normal tail of Student's t.

    Samples vary less than estimates, by a factor of sqrt(k
    (k - 1)).
    """
    width = (statements / (statements - 1)) ** 0.5 * t_quantile(statements - 1)
    return erfc(width / 2**0.5) / 2


def _ranges(values: Array, statements: int) -> Iterator[tuple[float, float]]:
    """Yield the range in which each end may be for as few samples as the product's.

    The number of samples below an end is binomial. The range extends _ERRORS standard errors to either side.
    """
    few = min(PRODUCTS_MOST, PRODUCTS_DRAWN // statements)
    theirs = few if statements < 500 else PRODUCTS_LEAST
    beyond = _beyond(statements)
    for share in (beyond, 1 - beyond):
        error = _ERRORS * (share * (1 - share) * (1 / theirs + 1 / len(values))) ** 0.5
        least, most = np.quantile(values, [share - error, share + error])
        yield float(least), float(most)
