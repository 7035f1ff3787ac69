"""Calculate shares and paired differences of shares with 95% intervals, for items that may share statements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

from core.intervals import Interval, Z, newcombe, t_quantile, wilson
from core.translation import gettext_noop as _
from review.study.statistics.p_values import sign_flip

ONE_STATEMENT = _("all items have the same statement")
# The contribution of a statement's items to the numerator, the number of these items, and the number of statements with
# the same two values.
Cluster = tuple[int, int, int]


@dataclass(frozen=True)
class Share:
    """A proportion with its interval. If the denominator is 0, value and interval are None.

    `deff` is the design effect if statements repeat, and None otherwise.
    """

    numerator: int
    denominator: int
    value: float | None
    low: float | None
    high: float | None
    deff: float | None = None
    # Why the value has no interval.
    no_interval: str = ""

    @classmethod
    def of(
        cls, numerator: int, denominator: int, *, clusters: Sequence[Cluster] | None = None
    ) -> Share:
        """Return the share with Wilson's interval. `clusters` are all statements, or None if no statement repeats."""
        if not denominator:
            return cls(numerator, denominator, None, None, None)
        value, deff = numerator / denominator, None
        found: Interval | None
        if clusters is None:
            found = wilson(numerator, denominator)
        else:
            found, deff = _of_clusters(numerator, denominator, clusters)
        low, high = found or (None, None)
        return cls(numerator, denominator, value, low, high, deff, "" if found else ONE_STATEMENT)

    def without_interval(self, reason: str) -> Share:
        """Return the share with the reason instead of its interval."""
        if self.value is None:
            return self
        return replace(self, low=None, high=None, deff=None, no_interval=reason)

    def as_json(self) -> dict[str, object]:
        return {
            "numerator": self.numerator,
            "denominator": self.denominator,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            **({"no_interval": self.no_interval} if self.no_interval else {}),
        }


@dataclass(frozen=True)
class Difference:
    """The difference between two shares of the same items: the share right after minus the share right before.

    `gained` items are right only after, and `lost` items are right only before. The p value is from a sign-flip test
    over whole statements, which is McNemar's exact test if no statement repeats.
    """

    gained: int
    lost: int
    items: int
    value: float | None
    low: float | None
    high: float | None
    p_value: float | None
    deff: float | None = None
    # Why the value has no interval.
    no_interval: str = ""

    @classmethod
    def of(
        cls,
        *,
        both: int,
        lost: int,
        gained: int,
        neither: int,
        clusters: Sequence[Cluster] | None = None,
    ) -> Difference:
        """Return the difference with Newcombe's interval (method 10).

        `clusters` are all statements if any statement repeats: the difference, the number of items, and the number of
        equal statements.
        """
        items = both + lost + gained + neither
        if not items:
            return cls(gained, lost, 0, None, None, None, None)
        value = (gained - lost) / items
        deff: float | None = 1.0
        if clusters is None:
            p_value = sign_flip({1: gained + lost}, gained - lost)
        else:
            deff = _deff_of_difference(gained, lost, items, clusters)
            steps: dict[int, int] = {}
            for change, _items, times in clusters:
                steps[abs(change)] = steps.get(abs(change), 0) + times
            p_value = sign_flip(steps, gained - lost)
        low: float | None = None
        high: float | None = None
        if deff is not None:
            low, high = newcombe(
                both=both / deff, lost=lost / deff, gained=gained / deff, neither=neither / deff
            )
        shown = None if clusters is None else deff
        reason = ONE_STATEMENT if deff is None else ""
        return cls(gained, lost, items, value, low, high, p_value, shown, reason)


def _of_clusters(
    numerator: int, items: int, clusters: Sequence[Cluster]
) -> tuple[Interval | None, float | None]:
    """Return Wilson's interval for the effective number of independent items, and the design effect."""
    statements = sum(times for _right, size, times in clusters if size)
    if statements < 2:
        return None, None
    if numerator in (0, items):
        deff = items / statements
        size = float(statements)
    else:
        deff = _deff(numerator / items, numerator * (1 - numerator / items), statements, clusters)
        size = items / deff * (Z / t_quantile(statements - 1)) ** 2
    return wilson(numerator / items * size, size), deff


def _deff_of_difference(
    gained: int, lost: int, items: int, clusters: Sequence[Cluster]
) -> float | None:
    """Return the design effect for a difference, or None if there are fewer than two statements."""
    statements = sum(times for _change, size, times in clusters if size)
    if statements < 2:
        return None
    mean = (gained - lost) / items
    spread = gained + lost - items * mean**2
    return _deff(mean, spread, statements, clusters) if spread > 0 else items / statements


def _deff(mean: float, spread: float, statements: int, clusters: Sequence[Cluster]) -> float:
    """Return the ratio of the variance over whole statements to the variance over independent items, at least 1."""
    between = sum(times * (right - mean * size) ** 2 for right, size, times in clusters if size)
    return max(1.0, statements / (statements - 1) * between / spread) if spread else inf
