"""Calculate the number of items that a study needs for a share, a paired comparison or an agreement measure.

The number of independent items is multiplied by the expected design effect of repeated statements (Kish, Survey
Sampling). Shares and widths are numbers from 0 to 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from math import ceil, comb, lgamma, log, sqrt
from typing import TYPE_CHECKING, TypeAlias

from core.intervals import Z
from core.lazy_numpy import np
from review.study.statistics.coefficients import alphas_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

Floats: TypeAlias = "NDArray[np.float64]"
Counts: TypeAlias = "NDArray[np.int64]"

MOST_ITEMS = 10_000
LEAST_FOR_AGREEMENT = 20  # with fewer statements, agreement measures have no interval
_SIGNIFICANT = 0.05
_SIMULATED, _SEED = 3_000, 20250131
_SAW_TOOTH = 20  # sizes to check on each side, because the exact test's power sometimes falls as items are added
_POINTS = 13
_UNLIKELY = 1e-10


class Aim(StrEnum):
    """The kind of result that a study is planned for."""

    SHARE = "share"
    PAIRED = "paired"
    AGREEMENT = "agreement"


class OutOfReach(ValueError):
    """Raised if no study of a reasonable size reaches the target."""


@dataclass(frozen=True)
class Need:
    """The number of items needed, and the number without repeated statements (`independent`).

    `curve` pairs numbers of items with the resulting width or power.
    """

    items: int
    independent: int
    curve: tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class Effort:
    """The total hours of review work, and the number of reviewers needed."""

    hours: float
    reviewers: int


def plan_effort(*, reviews: int, minutes: float, hours_each: float, least: int = 1) -> Effort:
    """Return the effort for this number of reviews, with `minutes` per review and `hours_each` per reviewer.

    `least` is the number of reviewers per item, because no reviewer scores an item twice.
    """
    hours = reviews * minutes / 60
    return Effort(hours, max(least, ceil(hours / hours_each - 1e-9)))


def half_width(share: float, items: float) -> float:
    """Return the half-width of Wilson's 95% interval for an expected share of independent items."""
    square = Z * Z
    return Z * sqrt(share * (1 - share) / items + square / (4 * items**2)) / (1 + square / items)


def plan_share(*, share: float, half_width_wanted: float, deff: float = 1.0) -> Need:
    """Return the items needed for a share whose interval has at most this half-width. Raises OutOfReach."""
    return _need(lambda n: half_width(share, n), half_width_wanted, deff, falls=True, least=1)


def power(gained: float, lost: float, items: int) -> float:
    """Return the probability that McNemar's exact test at 5% finds a difference between two arms.

    `gained` and `lost` are the expected shares of items that are right only in the second or only in the first arm. The
    calculation enumerates the numbers of discordant items and, for each, the numbers of gained items.
    """
    discordant = gained + lost
    if not discordant:
        return 0.0
    counts, chances = _binomial(items, min(1.0, discordant))
    likely = chances > _UNLIKELY
    found = (_rejects(int(m), gained / discordant) for m in counts[likely])
    return float(sum(chance * one for chance, one in zip(chances[likely], found, strict=True)))


def plan_paired(*, gained: float, lost: float, power_wanted: float, deff: float = 1.0) -> Need:
    """Return the items needed for this power in a paired comparison of two arms. Raises OutOfReach."""
    if gained == lost:
        raise OutOfReach("Without a difference, no number of items can detect one.")
    return _need(lambda n: power(gained, lost, n), power_wanted, deff, falls=False, least=5)


def alpha_width(
    margins: tuple[float, float, float], alpha: float, items: int, *, reviewers: int = 2
) -> float:
    """Simulate studies of this size, and return the width of the central 95% of Krippendorff's ordinal alpha.

    Each reviewer gives an item's true value with probability sqrt(alpha), and otherwise a random value from the
    margins. Observed disagreement divided by expected disagreement is then 1 - alpha under every metric.
    """
    multisets, chances = _kinds(margins, alpha, reviewers)
    generator = np.random.default_rng(_SEED)
    times = generator.multinomial(items, chances, size=_SIMULATED).astype(np.float64)
    found = alphas_of(multisets, times, "ordinal")
    if np.isnan(found).mean() > _SIGNIFICANT:
        return float("inf")
    low, high = np.nanpercentile(found, (2.5, 97.5))
    return float(high - low)


def plan_agreement(
    *,
    margins: tuple[float, float, float],
    alpha: float,
    width_wanted: float,
    reviewers: int = 2,
    deff: float = 1.0,
) -> Need:
    """Return the items needed for an interval of ordinal alpha that is at most this wide. Raises OutOfReach."""
    return _need(
        lambda n: alpha_width(margins, alpha, n, reviewers=reviewers),
        width_wanted,
        deff,
        falls=True,
        least=LEAST_FOR_AGREEMENT,
    )


def _need(
    gives: Callable[[int], float], wanted: float, deff: float, *, falls: bool, least: int
) -> Need:
    def is_enough(items: int) -> bool:
        found = gives(items)
        return found <= wanted if falls else found >= wanted

    low, high = least - 1, least
    while not is_enough(high):
        low, high = high, 2 * high
        if high > MOST_ITEMS:
            raise OutOfReach(f"More than {MOST_ITEMS:,} items would be needed.")
    while high - low > 1:
        middle = (low + high) // 2
        if is_enough(middle):
            high = middle
        else:
            low = middle
    if not falls:
        high = _steady(high, is_enough)
    curve: list[tuple[int, float]] = []
    for place in range(_POINTS):
        n = max(least, round(high * 2 ** ((place - _POINTS // 2) / 3)))
        if not curve or n > curve[-1][0]:
            curve.append((n, gives(n)))
    # Convert to the numbers of items of the actual study, in which statements can repeat.
    real = tuple((ceil(n * deff - 1e-9), value) for n, value in curve)
    return Need(items=ceil(high * deff - 1e-9), independent=high, curve=real)


def _steady(found: int, is_enough: Callable[[int], bool]) -> int:
    """Return the smallest number for which all larger tested numbers are also enough."""
    begin = max(1, found - _SAW_TOOTH)
    holds = [is_enough(n) for n in range(begin, found + 2 * _SAW_TOOTH)]
    failed = [place for place, one in enumerate(holds) if not one]
    return begin + failed[-1] + 1 if failed else begin


@lru_cache(maxsize=100_000)
def _rejects(discordant: int, gained: float) -> float:
    """Return the probability that p <= 5% for this many discordant items, each gained with probability `gained`."""
    counts, chances = _binomial(discordant, 0.5)
    fewest = (
        int(counts[0]) - 1 + int(np.searchsorted(2 * np.cumsum(chances), _SIGNIFICANT, "right"))
    )
    if fewest < 0:
        return 0.0
    counts, chances = _binomial(discordant, gained)
    return float(chances[(counts <= fewest) | (counts >= discordant - fewest)].sum())


def _binomial(n: int, p: float) -> tuple[Counts, Floats]:
    """Return counts and their binomial probabilities, within about ten standard deviations of the mean."""
    if p in (0.0, 1.0):
        return np.array([n if p else 0]), np.ones(1)
    reach = 10 * sqrt(n * p * (1 - p)) + 10
    counts = np.arange(max(0, int(n * p - reach)), min(n, int(n * p + reach)) + 1)
    factorials = _log_factorials(n)
    logs = factorials[n] - factorials[counts] - factorials[n - counts]
    chances: Floats = np.exp(logs + counts * log(p) + (n - counts) * log(1 - p))
    return counts, chances


def _log_factorials(n: int) -> Floats:
    # Use powers of two as sizes, because a search then needs few tables.
    return _table(1 << max(4, n.bit_length()))


@lru_cache(maxsize=20)
def _table(size: int) -> Floats:
    return np.array([lgamma(count + 1) for count in range(size)])


def _kinds(
    margins: tuple[float, float, float], alpha: float, reviewers: int
) -> tuple[Floats, Floats]:
    """Return the possible numbers of reviewers who give an item 0, 1 and 2, and their probabilities."""
    own = alpha**0.5
    shares = np.array(margins) / sum(margins)
    given = own * np.eye(3) + (1 - own) * shares  # probabilities by the item's true value
    kinds = [
        (zeros, ones, reviewers - zeros - ones)
        for zeros in range(reviewers + 1)
        for ones in range(reviewers - zeros + 1)
    ]
    chances = [
        comb(reviewers, zeros)
        * comb(reviewers - zeros, ones)
        * float((shares * given[:, 0] ** zeros * given[:, 1] ** ones * given[:, 2] ** twos).sum())
        for zeros, ones, twos in kinds
    ]
    total = np.array(chances)
    return np.array(kinds, dtype=np.float64), total / total.sum()
