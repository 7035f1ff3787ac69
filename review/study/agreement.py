"""Agreement between reviewers at one stage, with and without correction for chance, computed from counts.

Three kinds of counts are stored per statement. Krippendorff's alpha uses the multisets of its items' values (the
numbers of scores of 0, 1 and 2). The kappas use the scores of each pair of reviewers. Leniency uses each reviewer's
difference from the others. An added or removed item only changes counts, so the computing time does not depend on the
number of items. The score values are fixed to 0, 1 and 2.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from math import fsum, isfinite
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from core.lazy_numpy import np
from core.translation import gettext_noop as _
from review.study.patterns import ReviewerValues
from review.study.statistics.bootstrap import LEAST_STATEMENTS, as_rows, intervals_of
from review.study.statistics.coefficients import (
    ALPHAS,
    ac1_of,
    ac2_of,
    alphas_of,
    fleiss_of,
    kappas_of,
    penalties,
    percent_of,
    percents_of,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST_JOINT_ITEMS = 20
# With more reviewers than this, intervals of pairs and leniency are calculated only on request.
MOST_REVIEWERS = 8
NO_VARIATION = "no variation"
NO_PAIRS = "no item with two scores"
# The bootstrap of a mean over pairs is limited to studies with at most this many items.
MOST_ITEMS_OF_A_MEAN = 5_000
MEAN_NOT_DRAWN = _(
    "not computed for a mean over pairs in studies with more than 8 reviewers or 5,000 items (see the pairs)"
)
PAIR, MEAN_OF_PAIRS = "pair", "mean over pairs with at least 20 shared items"
TEXT = _(
    "Agreement uses the score that each reviewer gave before anything later, or another "
    "reviewer’s score, was visible. Adjudications and scores of reviewers who were added "
    "to break a tie are left out. A text in several configurations counts once. The main "
    "measure is Krippendorff’s ordinal alpha, which allows missing scores. AC1 (strict) "
    "and AC2 (Gwet 2014, ordinal weights: 2/3 for neighboring scores) stay meaningful if "
    "one value dominates. Percent is the share of agreeing pairs among all pairs of "
    "scores. With three or more reviewers, the kappas are means over pairs with at least "
    "20 shared items, and each draw takes the mean over the same pairs. Intervals are from "
    "a percentile bootstrap over statements with 2,000 draws, or up to 20,000 draws for "
    "fewer than 500 statements, using expanded percentiles for small samples (Hesterberg "
    "2015; 1.9 and 98.1 for 30 statements, 2.5 and 97.5 for many). There is no interval "
    "with fewer than 20 statements, if more than 5% of the draws have no variation, or if "
    "all draws give the same value."
)
LENIENCY_TEXT = _(
    "Leniency is the mean difference between a reviewer’s scores and those of other reviewers on the "
    "same items. A positive value is more lenient."
)


class Values(NamedTuple):
    """The numbers of an item's reviewers who gave 0, 1 and 2."""

    zeros: int
    ones: int
    twos: int


class PairCells(NamedTuple):
    """The scores of two reviewers, the lower key first, for their shared items of a statement, in sorted order."""

    a: int
    b: int
    cells: tuple[tuple[int, int], ...]


class Leaning(NamedTuple):
    """A reviewer's leniency on the shared items of a statement: the number of items, and the sum of the differences.

    A difference is the reviewer's score minus the mean score of the item's other reviewers. The sum is the fraction
    `top` / `bottom` in lowest terms.
    """

    reviewer: int
    items: int
    top: int
    bottom: int


@dataclass(frozen=True)
class StageCounts:
    """The scores at one stage by statement. Each mapping counts equal statements, and each text is included once.

    A key of `statements` contains all pairs of a statement. Without `statements`, means over pairs have no interval.
    """

    values: Mapping[tuple[Values, ...], int] = field(default_factory=dict)
    pairs: Mapping[PairCells, int] = field(default_factory=dict)
    leanings: Mapping[Leaning, int] = field(default_factory=dict)
    statements: Mapping[tuple[PairCells, ...], int] = field(default_factory=dict)

    def has_mean_over_pairs(self) -> bool:
        """Return whether the kappas are means over pairs and there are few enough reviewers to compute intervals."""
        pairs = {(one.a, one.b) for one in self.pairs}
        return len(pairs) > 1 and len({key for pair in pairs for key in pair}) <= MOST_REVIEWERS


Intervals = Mapping[str, list[float] | None]


@dataclass(frozen=True)
class PairAgreement:
    """The agreement of two reviewers on their shared items. Undefined measures (for constant scores) are None."""

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
    intervals: Intervals


@dataclass(frozen=True)
class ReviewerLeniency:
    """A reviewer's mean difference from the others on shared items, from -2 to 2. Positive values are more lenient."""

    reviewer: int
    items: int
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Agreement:
    """All measures of a stage. `undefined` is the reason why alpha is missing, or an empty string.

    `low` and `high` are the bounds of the ordinal alpha. `intervals` contains the intervals of all measures, including
    alpha. `no_interval` is the reason why an interval is missing.
    """

    items: int
    statements: int
    percent: float | None
    cohen_kappa: float | None
    linear_kappa: float | None
    weighted_kappa: float | None
    kappa_basis: str
    krippendorff_alpha: float | None
    alpha_nominal: float | None
    alpha_interval: float | None
    ac1: float | None
    ac2: float | None
    fleiss_kappa: float | None
    low: float | None
    high: float | None
    intervals: Intervals
    no_interval: str
    undefined: str
    pairs: tuple[PairAgreement, ...]
    leniency: tuple[ReviewerLeniency, ...]


def values_of(given: ReviewerValues) -> Values:
    """Return the multiset of an item's values."""
    values = [value for _reviewer, value in given]
    return Values(values.count(0), values.count(1), values.count(2))


def pairs_of(items: Iterable[ReviewerValues]) -> Iterator[PairCells]:
    """Yield the scores of each pair of reviewers on the items of one statement."""
    found: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for given in items:
        for (a, value_a), (b, value_b) in combinations(sorted(given), 2):
            found[a, b].append((value_a, value_b))
    for (a, b), cells in found.items():
        yield PairCells(a, b, tuple(sorted(cells)))


def leanings_of(items: Iterable[ReviewerValues]) -> Iterator[Leaning]:
    """Yield each reviewer's leniency on the items of one statement."""
    counts: dict[int, int] = defaultdict(int)
    above: dict[int, Fraction] = defaultdict(Fraction)
    for given in items:
        if len(given) < 2:
            continue
        total = sum(value for _reviewer, value in given)
        for reviewer, value in given:
            counts[reviewer] += 1
            above[reviewer] += value - Fraction(total - value, len(given) - 1)
    for reviewer, number in counts.items():
        yield Leaning(reviewer, number, *above[reviewer].as_integer_ratio())


def agreement_of(counts: StageCounts, *, every: bool = False) -> Agreement:
    """Return all measures of agreement. Items with a single score affect only AC1 and AC2.

    With more than eight reviewers, intervals of pairs and of leniency are calculated only if `every` is set.
    """
    few = every or len({key for one in counts.pairs for key in (one.a, one.b)}) <= MOST_REVIEWERS
    pairs = tuple(_pair_up(counts.pairs, with_intervals=few))
    leniency = tuple(_rank(counts.leanings, with_intervals=few))
    scored = sorted(
        {one for items, n in counts.values.items() if n for one in items if sum(one) > 0}
    )
    kinds = [one for one in scored if sum(one) > 1]
    if not kinds:
        return Agreement(
            *(0, 0, None, None, None, None, PAIR, None, None, None, None, None, None, None, None),
            *({}, "", NO_PAIRS, pairs, leniency),
        )
    statements = [(items, n) for items, n in counts.values.items() if n]
    shared = [(items, n) for items, n in statements if any(sum(one) > 1 for one in items)]
    rows, times = as_rows(shared, kinds)
    all_rows, all_times = as_rows(statements, scored)
    multisets = np.array(kinds, dtype=np.float64)
    all_multisets = np.array(scored, dtype=np.float64)
    measures: dict[str, _Measure] = {name: _by_alpha(multisets, name) for name in ALPHAS}
    measures["percent"] = lambda draws: percent_of(multisets, draws)
    if len({sum(one) for one in scored}) == 1:
        measures["fleiss_kappa"] = lambda draws: fleiss_of(multisets, draws)
    whole = (times @ rows)[np.newaxis]
    points = {name: _number(measure(whole)[0]) for name, measure in measures.items()}
    by_gwet: dict[str, _Measure] = {
        "ac1": lambda draws: ac1_of(all_multisets, draws),
        "ac2": lambda draws: ac2_of(all_multisets, draws),
    }
    every_item = (all_times @ all_rows)[np.newaxis]
    points |= {name: _number(measure(every_item)[0]) for name, measure in by_gwet.items()}
    # Alpha is undefined if all values are equal.
    wanted = {name: one for name, one in measures.items() if points[name] is not None}
    if kinds == scored and shared == statements:
        # AC1 and AC2 usually cover the same items. All measures can then share one set of draws, the slowest part.
        found, reason = intervals_of(wanted | by_gwet, rows, times)
    else:
        found, reason = intervals_of(wanted, rows, times)
        if times.sum() >= LEAST_STATEMENTS:
            found |= intervals_of(by_gwet, all_rows, all_times)[0]
    intervals = {_NAMES.get(name, name): found.get(name) for name in (*measures, *by_gwet)}
    basis, counted = _basis(pairs)
    if basis == PAIR:
        intervals |= {name: counted[0].intervals.get(name) for name in _MEANS if counted}
    else:
        means, of_means = _draw_means(counts.statements, counted)
        intervals |= means
        reason = reason or of_means
    low, high = intervals["krippendorff_alpha"] or (None, None)
    return Agreement(
        items=int(whole.sum()),
        statements=int(times.sum()),
        percent=points["percent"],
        cohen_kappa=_mean(pair.cohen_kappa for pair in counted),
        linear_kappa=_mean(pair.linear_kappa for pair in counted),
        weighted_kappa=_mean(pair.weighted_kappa for pair in counted),
        kappa_basis=basis,
        krippendorff_alpha=points["ordinal"],
        alpha_nominal=points["nominal"],
        alpha_interval=points["interval"],
        ac1=points["ac1"],
        ac2=points["ac2"],
        fleiss_kappa=points.get("fleiss_kappa"),
        low=low,
        high=high,
        intervals=intervals,
        no_interval=reason,
        undefined=NO_VARIATION if points["ordinal"] is None else "",
        pairs=pairs,
        leniency=leniency,
    )


# --- Pairs and single reviewers -------------------------------------------------------------------------------------


_ALL_CELLS = tuple((a, b) for a in range(3) for b in range(3))
_OF_PAIRS = {
    "percent": (percents_of, "nominal"),
    "cohen_kappa": (kappas_of, "nominal"),
    "linear_kappa": (kappas_of, "linear"),
    "weighted_kappa": (kappas_of, "quadratic"),
    "strict_percent": (percents_of, "strict"),
    "strict_kappa": (kappas_of, "strict"),
    "partial_percent": (percents_of, "partial"),
    "partial_kappa": (kappas_of, "partial"),
}
_MEANS = ("cohen_kappa", "linear_kappa", "weighted_kappa")
_NAMES = {
    "ordinal": "krippendorff_alpha",
    "nominal": "alpha_nominal",
    "interval": "alpha_interval",
}


def _pair_up(cells: Mapping[PairCells, int], *, with_intervals: bool) -> Iterator[PairAgreement]:
    """Yield the agreement of each pair with shared items, in key order."""
    tables: dict[tuple[int, int], list[list[int]]] = {}
    for one, n in cells.items():
        table = tables.setdefault((one.a, one.b), [[0] * 3 for _ in range(3)])
        for a, b in one.cells:
            table[a][b] += n
    names = sorted(name for name, table in tables.items() if any(map(any, table)))
    if not names:
        return
    statements = _statements_of(cells) if with_intervals else {}
    stack = np.array([tables[name] for name in names], dtype=np.float64)
    points = {
        measure: function(stack, penalties()[penalty])
        for measure, (function, penalty) in _OF_PAIRS.items()
    }
    for place, (a, b) in enumerate(names):
        found = {name: _number(values[place]) for name, values in points.items()}
        intervals: Intervals = {}
        if with_intervals:
            measures = {name: _by_table(name) for name, value in found.items() if value is not None}
            rows, times = as_rows(statements[a, b], _ALL_CELLS)
            intervals, _reason = intervals_of(measures, rows, times)
        yield PairAgreement(
            a=a,
            b=b,
            items=int(stack[place].sum()),
            intervals=intervals,
            **found,  # type: ignore[arg-type]
        )


def _statements_of(
    cells: Mapping[PairCells, int],
) -> dict[tuple[int, int], list[tuple[Sequence[tuple[int, int]], int]]]:
    """Return each pair's shared items by statement, in a fixed order because resampling depends on the order."""
    found: dict[tuple[int, int], list[tuple[Sequence[tuple[int, int]], int]]] = defaultdict(list)
    for one, n in sorted(cells.items()):
        if n:
            found[one.a, one.b].append((one.cells, n))
    return found


def _draw_means(
    statements: Mapping[tuple[PairCells, ...], int], counted: Sequence[PairAgreement]
) -> tuple[Intervals, str]:
    """Return the intervals of the means over these pairs, and the reason why an interval is missing."""
    wanted = [name for name in _MEANS if any(vars(pair)[name] is not None for pair in counted)]
    if not wanted:
        return dict.fromkeys(_MEANS), ""
    if not statements:
        return dict.fromkeys(_MEANS), MEAN_NOT_DRAWN
    places = {(pair.a, pair.b): place for place, pair in enumerate(counted)}
    # Sort the statements because resampling depends on the order. Exclude statements without any of these pairs.
    kept = [
        (one, n)
        for one, n in sorted(statements.items())
        if n and any((pair.a, pair.b) in places for pair in one)
    ]
    rows = np.zeros((len(kept), len(counted), 3, 3))
    for row, (pairs, _n) in zip(rows, kept, strict=True):
        for pair in pairs:
            place = places.get((pair.a, pair.b))
            if place is not None:
                for a, b in pair.cells:
                    row[place, a, b] += 1
    times = np.array([n for _pairs, n in kept], dtype=np.float64)
    measures = {
        name: _by_tables(name, [vars(pair)[name] is not None for pair in counted])
        for name in wanted
    }
    found, reason = intervals_of(measures, rows.reshape(len(kept), -1), times)
    return dict.fromkeys(_MEANS) | found, reason


def _by_tables(name: str, is_defined: Sequence[bool]) -> _Measure:
    """Return a function for the mean over the defined pairs. If a pair is undefined in a draw, so is the mean."""
    function, penalty = _OF_PAIRS[name]

    def mean(draws: _Floats) -> _Floats:
        tables = draws.reshape(-1, len(is_defined), 3, 3)[:, np.array(is_defined)]
        found: _Floats = function(tables, penalties()[penalty]).mean(axis=1)
        return found

    return mean


def _rank(leanings: Mapping[Leaning, int], *, with_intervals: bool) -> Iterator[ReviewerLeniency]:
    """Yield the leniency of each reviewer, in key order."""
    own: dict[int, list[tuple[Leaning, int]]] = defaultdict(list)
    # Resampling depends on the order.
    for one, n in sorted(leanings.items()) if with_intervals else leanings.items():
        if n:
            own[one.reviewer].append((one, n))
    for reviewer, found in sorted(own.items()):
        items = sum(one.items * n for one, n in found)
        total = fsum(one.top / one.bottom * n for one, n in found)
        interval: list[float] | None = None
        if with_intervals:
            rows = np.array([(one.items, one.top / one.bottom) for one, _n in found])
            times = np.array([n for _one, n in found], dtype=np.float64)
            interval = intervals_of({"mean": _mean_of}, rows, times)[0]["mean"]
        low, high = interval or (None, None)
        yield ReviewerLeniency(reviewer, items, total / items, low, high)


_Floats: TypeAlias = "NDArray[np.float64]"
_Measure = Callable[[_Floats], _Floats]


def _by_alpha(multisets: _Floats, metric: str) -> _Measure:
    return lambda draws: alphas_of(multisets, draws, metric)


def _by_table(name: str) -> _Measure:
    function, penalty = _OF_PAIRS[name]
    return lambda draws: function(draws.reshape(-1, 3, 3), penalties()[penalty])


def _mean_of(draws: _Floats) -> _Floats:
    mean: _Floats = draws[:, 1] / draws[:, 0]
    return mean


def _basis(pairs: tuple[PairAgreement, ...]) -> tuple[str, list[PairAgreement]]:
    if len(pairs) < 2:
        return PAIR, list(pairs)
    return MEAN_OF_PAIRS, [pair for pair in pairs if pair.items >= LEAST_JOINT_ITEMS]


def _mean(numbers: Iterable[float | None]) -> float | None:
    """Return the mean of the defined values, or None if no value is defined."""
    defined = [number for number in numbers if number is not None]
    return sum(defined) / len(defined) if defined else None


def _number(value: np.float64) -> float | None:
    return float(value) if isfinite(value) else None
