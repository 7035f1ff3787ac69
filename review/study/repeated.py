"""Adjust the intervals of shares for statements that have more than one item in a Configuration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from core.lazy_numpy import np
from core.translation import gettext_noop as _
from review.study.criteria import Patterns
from review.study.statistics.intervals import Cluster, Share
from review.study.types import ItemPattern, Origin

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The number of statements with the same patterns (reduced and sorted), for statements with at least two items.
Clusters = Mapping[tuple[ItemPattern, ...], int]
# An item's contribution to a numerator, or None if the share excludes it.
Adds = Callable[[ItemPattern], int | None]
NOT_KEPT = _("statements are repeated, but the report does not store which items share a statement")


def is_made(pattern: ItemPattern) -> bool:
    """Return whether model figures include the item. Model figures exclude items answered from the catalogue."""
    return pattern.origin is not Origin.RETRIEVED


def is_retrieved(pattern: ItemPattern) -> bool:
    """Return whether the item was answered from the catalogue."""
    return pattern.origin is Origin.RETRIEVED


class Repeated:
    """The statements with more than one item, prepared once for the calculation of multiple shares."""

    def __init__(
        self, clusters: Clusters, is_about: Callable[[ItemPattern], bool] = is_made
    ) -> None:
        kept: Counter[tuple[ItemPattern, ...]] = Counter()
        for key, times in clusters.items():
            own = tuple(one for one in key if is_about(one))
            if times and len(own) > 1:
                kept[own] += times
        self.patterns = list(dict.fromkeys(one for key in kept for one in key))
        places = {pattern: place for place, pattern in enumerate(self.patterns)}
        self._members = np.array([places[one] for key in kept for one in key], dtype=np.int64)
        self._starts = np.cumsum([0, *(len(key) for key in kept)])[:-1]
        self.times: NDArray[np.int64] = np.array(list(kept.values()), dtype=np.int64)

    def __bool__(self) -> bool:
        return bool(self.patterns)

    def add_up(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the sums of rows over the items of each statement. `rows` has a row for each of `patterns`."""
        found: NDArray[np.int64] = np.add.reduceat(rows[self._members], self._starts, axis=0)
        return found

    def count(self, both: NDArray[np.int64]) -> list[Cluster]:
        """Count the statements by their contributions to numerator and denominator."""
        alike: Counter[tuple[int, int]] = Counter()
        for (right, size), times in zip(both.tolist(), self.times.tolist(), strict=True):
            alike[right, size] += times
        return [(*key, times) for key, times in alike.items() if key[1]]

    def of(self, adds: Adds) -> list[Cluster]:
        """Return the contributions of the repeated statements to a share."""
        found = [adds(pattern) for pattern in self.patterns]
        rows = np.array([(one or 0, int(one is not None)) for one in found], dtype=np.int64)
        return self.count(self.add_up(rows))


def share_of(patterns: Patterns, adds: Adds, repeated: Repeated | None) -> Share:
    """Return the share of these items, with an interval that accounts for repeated statements."""
    right = size = 0
    for pattern, times in patterns.items():
        found = adds(pattern)
        if found is not None:
            right, size = right + found * times, size + times
    if not repeated:
        return Share.of(right, size)
    return Share.of(right, size, clusters=with_single(repeated.of(adds), right, size))


def with_single(several: Sequence[Cluster], right: int, size: int) -> list[Cluster]:
    """Return all statements of a share: the repeated statements, and one statement for each other item."""
    alone = size - sum(n * times for _right, n, times in several)
    alone_right = right - sum(one * times for one, _n, times in several)
    return [*several, (1, 1, alone_right), (0, 1, alone - alone_right)]


def count_clusters(statements: Iterable[Iterable[int]]) -> list[Cluster]:
    """Return the clusters of these statements. Each statement is given as the contributions of its items."""
    alike: Counter[tuple[int, int]] = Counter()
    for items in statements:
        own = list(items)
        alike[sum(own), len(own)] += 1
    return [(*key, times) for key, times in alike.items()]
