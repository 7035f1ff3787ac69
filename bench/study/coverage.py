"""Measure how often a report's intervals contain the true value, in 2,000 simulated studies.

The figures are shares, paired differences and Krippendorff's alpha, at 30, 100 and 500 items. The items are
independent, or each statement has three correlated items (correlation 0.3). The coverage must be 92.5 to 97.5%. Some
rows have no bounds, and their notes say why. For example, fewer than 20 statements have too little data, and Newcombe's
interval is too wide for six discordant pairs in 30.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.figures import IS_FULL, Figure, figure, size
from review.study.statistics.bootstrap import LEAST_STATEMENTS, as_rows, intervals_of
from review.study.statistics.coefficients import alphas_of
from review.study.statistics.intervals import Cluster, Difference, Share

REPLICATIONS = size(full=2_000, quick=400)
SIZES = (30, 100, 500)
# Percent. With 400 replications, the standard error is 1.1 instead of 0.5.
LEAST, MOST = (92.5, 97.5) if IS_FULL else (91.0, 98.5)
PER_STATEMENT, ALIKE = 3, 0.3
SEED = 20260301

Outcomes = NDArray[np.int64]
Ends = tuple[float | None, float | None]
# Function from the items' outcomes by statement to the interval of a figure.
Estimate = Callable[[list[Outcomes], bool], Ends]


class Truth(NamedTuple):
    """A figure with the probabilities of an item's outcomes, and the resulting true value."""

    name: str
    chances: tuple[float, ...]
    value: float
    estimate: Estimate
    is_skewed: bool = False
    least: int = 0  # minimum number of statements for a valid interval
    why: str = ""


def measure() -> list[Figure]:
    """Return the percentage of studies in which each interval contains the true value."""
    generator = np.random.default_rng(SEED)
    return [
        _row(truth, items, clustered=clustered, generator=generator)
        for truth in _truths()
        for clustered in (False, True)
        for items in SIZES
    ]


def _truths() -> Iterator[Truth]:
    for share, is_skewed in ((0.42, False), (0.75, False), (0.08, True)):
        chances = (1 - share, share)
        yield Truth(f"share of {share:.0%}", chances, share, _share, is_skewed)
    # Probabilities of neither, gained, lost and both right.
    yield Truth("paired difference of 10%", (0.4, 0.15, 0.05, 0.4), 0.10, _difference)
    few = "six discordant pairs: wider than need be"
    yield Truth("paired difference of 0%", (0.3, 0.1, 0.1, 0.5), 0.0, _difference, False, 31, few)
    for margins, is_skewed in (((0.4, 0.15, 0.45), False), ((0.06, 0.04, 0.9), True)):
        name = f"alpha of 0.7, {margins[2]:.0%} correct"
        chances = _kind_chances(margins, 0.7)
        yield Truth(name, chances, 0.7, _alpha, is_skewed)


def _row(truth: Truth, items: int, *, clustered: bool, generator: np.random.Generator) -> Figure:
    hits = given = 0
    for _ in range(REPLICATIONS):
        low, high = truth.estimate(_study(truth, items, clustered, generator), clustered)
        if low is not None and high is not None:
            given += 1
            hits += low - 1e-12 <= truth.value <= high + 1e-12
    statements = -(-items // PER_STATEMENT) if clustered else items
    reasons = []
    if items == min(SIZES) and truth.is_skewed:
        reasons.append("few items of one kind: cannot hold")
    if statements < LEAST_STATEMENTS:
        reasons.append(f"{statements} statements: cannot hold")
    elif statements < truth.least:
        reasons.append(f"{truth.why}: cannot hold")
    if given < REPLICATIONS:
        reasons.append(f"no interval in {1 - given / REPLICATIONS:.1%}")
    return figure(
        f"{truth.name}, {items} items" + (f" of {statements} statements" if clustered else ""),
        100 * hits / given if given else None,
        least=None if reasons else LEAST,
        most=None if reasons else MOST,
        note="; ".join(reasons),
    )


def _study(
    truth: Truth, items: int, clustered: bool, generator: np.random.Generator
) -> list[Outcomes]:
    """Sample outcomes by statement. An item has its statement's outcome with probability sqrt(ALIKE)."""
    kinds = len(truth.chances)
    if not clustered:
        return list(generator.choice(kinds, size=(items, 1), p=truth.chances))
    statements = -(-items // PER_STATEMENT)
    own = generator.choice(kinds, size=(statements, 1), p=truth.chances)
    any_one = generator.choice(kinds, size=(statements, PER_STATEMENT), p=truth.chances)
    takes_own = generator.random((statements, PER_STATEMENT)) < ALIKE**0.5
    outcomes = np.where(takes_own, own, any_one)
    left_over = statements * PER_STATEMENT - items
    return [row[: PER_STATEMENT - (place < left_over)] for place, row in enumerate(outcomes)]


def _share(outcomes: list[Outcomes], clustered: bool) -> Ends:
    counts = Counter((int(one.sum()), len(one)) for one in outcomes)
    clusters: list[Cluster] = [(right, size, times) for (right, size), times in counts.items()]
    right = sum(right * times for right, _size, times in clusters)
    items = sum(size * times for _right, size, times in clusters)
    found = Share.of(right, items, clusters=clusters if clustered else None)
    return found.low, found.high


def _difference(outcomes: list[Outcomes], clustered: bool) -> Ends:
    neither, gained, lost, both = (
        sum(int((one == kind).sum()) for one in outcomes) for kind in range(4)
    )
    counts = Counter((int((one == 1).sum() - (one == 2).sum()), len(one)) for one in outcomes)
    found = Difference.of(
        both=both,
        lost=lost,
        gained=gained,
        neither=neither,
        clusters=[(*one, times) for one, times in counts.items()] if clustered else None,
    )
    return found.low, found.high


_KINDS = tuple(combinations_with_replacement(range(3), 2))  # possible scores of two reviewers
_MULTISETS = np.array([[kind.count(value) for value in range(3)] for kind in _KINDS], dtype=float)


def _kind_chances(margins: tuple[float, float, float], alpha: float) -> tuple[float, ...]:
    """Return the probability of each pair of scores.

    A reviewer gives the item's true value with probability sqrt(alpha), or else a random value from the margins.
    """
    own = alpha**0.5
    given = own * np.eye(3) + (1 - own) * np.array(margins)
    joint = np.einsum("v,va,vb->ab", np.array(margins), given, given)
    return tuple(float(joint[a, b] + (joint[b, a] if a != b else 0)) for a, b in _KINDS)


def _alpha(outcomes: list[Outcomes], _clustered: bool) -> Ends:
    counts = Counter(tuple(sorted(int(kind) for kind in one)) for one in outcomes)
    rows, times = as_rows(list(counts.items()), range(len(_KINDS)))
    ordinal = partial(alphas_of, _MULTISETS, metric="ordinal")
    found, _reason = intervals_of({"alpha": ordinal}, rows, times)
    low, high = found["alpha"] or (None, None)
    return low, high
