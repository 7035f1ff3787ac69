"""Calculates how many items a study needs for a share, a paired comparison or an agreement measure.

The number of independent items is multiplied by the design effect expected for repeated statements (Kish, Survey
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
LEAST_FOR_AGREEMENT = 20  # with fewer statements, an agreement has no interval
_SIGNIFICANT = 0.05
_SIMULATED, _SEED = 3_000, 20250131
_SAW_TOOTH = 20  # the exact test's power sometimes falls as items are added
_POINTS = 13
_UNLIKELY = 1e-10


class Aim(StrEnum):
    """The figure that a study is planned for."""

    SHARE = "share"
    PAIRED = "paired"
    AGREEMENT = "agreement"


class OutOfReach(ValueError):
    """Raised if no study of a reasonable size reaches the target."""


@dataclass(frozen=True)
class Need:
    """The number of items needed, and the number of `independent` items without repeats. The curve pairs items with
    results.
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
    """Return the effort for this number of reviews, from the active minutes per review and the hours per reviewer.

    No reviewer sees an item twice, so `least` is the number of reviewers per item.
    """
    hours = reviews * minutes / 60
    return Effort(hours, max(least, ceil(hours / hours_each - 1e-9)))


def half_width(share: float, items: float) -> float:
    """Return half the width of Wilson's 95% interval for an expected share of independent items."""
    square = Z * Z
    return Z * sqrt(share * (1 - share) / items + square / (4 * items**2)) / (1 + square / items)


def plan_share(*, share: float, half_width_wanted: float, deff: float = 1.0) -> Need:
    """Return the items needed for a share with an interval no wider than twice the half-width. Raises OutOfReach."""
    return _need(lambda n: half_width(share, n), half_width_wanted, deff, falls=True, least=1)


def power(gained: float, lost: float, items: int) -> float:
    """Return the probability that McNemar's exact test at 5% finds a difference between two arms.

    `gained` and `lost` are the expected shares of items that are right only in the second or only in the first arm. The
    calculation enumerates the number of discordant items and, for each, the number of gained ones.
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
    """Simulate the width within which 95% of studies of this size find Krippendorff's ordinal alpha.

    Each reviewer gives an item's own value with probability sqrt(alpha), and otherwise a value
    drawn from the margins. The observed disagreement divided by the expected disagreement is then 1
    - alpha under every metric.
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
    """Return the items needed for an interval of ordinal alpha that is no wider than `width_wanted`. Raises
    OutOfReach.
    """
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
    # Items needed and items on the curve refer to the actual study, in which statements can repeat.
    real = tuple((ceil(n * deff - 1e-9), value) for n, value in curve)
    return Need(items=ceil(high * deff - 1e-9), independent=high, curve=real)


def _steady(found: int, is_enough: Callable[[int], bool]) -> int:
    """Return the smallest number that is enough, along with all tested numbers above it."""
    begin = max(1, found - _SAW_TOOTH)
    holds = [is_enough(n) for n in range(begin, found + 2 * _SAW_TOOTH)]
    failed = [place for place, one in enumerate(holds) if not one]
    return begin + failed[-1] + 1 if failed else begin


@lru_cache(maxsize=100_000)
def _rejects(discordant: int, gained: float) -> float:
    """Return the probability that p <= 5% for this many discordant items, each of which is gained with this
    probability.
    """
    counts, chances = _binomial(discordant, 0.5)
    fewest = (
        int(counts[0]) - 1 + int(np.searchsorted(2 * np.cumsum(chances), _SIGNIFICANT, "right"))
    )
    if fewest < 0:
        return 0.0
    counts, chances = _binomial(discordant, gained)
    return float(chances[(counts <= fewest) | (counts >= discordant - fewest)].sum())


def _binomial(n: int, p: float) -> tuple[Counts, Floats]:
    """Return counts and their probabilities, without counts more than ten standard deviations from the mean."""
    if p in (0.0, 1.0):
        return np.array([n if p else 0]), np.ones(1)
    reach = 10 * sqrt(n * p * (1 - p)) + 10
    counts = np.arange(max(0, int(n * p - reach)), min(n, int(n * p + reach)) + 1)
    factorials = _log_factorials(n)
    logs = factorials[n] - factorials[counts] - factorials[n - counts]
    chances: Floats = np.exp(logs + counts * log(p) + (n - counts) * log(1 - p))
    return counts, chances


def _log_factorials(n: int) -> Floats:
    # Sizes are powers of two, so that a search needs few tables.
    return _table(1 << max(4, n.bit_length()))


@lru_cache(maxsize=20)
def _table(size: int) -> Floats:
    return np.array([lgamma(count + 1) for count in range(size)])


def _kinds(
    margins: tuple[float, float, float], alpha: float, reviewers: int
) -> tuple[Floats, Floats]:
    """Return the possible numbers of reviewers who give 0, 1 and 2 on an item, with their probabilities."""
    own = alpha**0.5
    shares = np.array(margins) / sum(margins)
    given = own * np.eye(3) + (1 - own) * shares  # probabilities by the item's own value
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
