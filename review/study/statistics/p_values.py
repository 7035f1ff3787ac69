"""Calculate exact p values of paired differences, and Holm's correction for multiple comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import isqrt
from typing import TYPE_CHECKING

from core.lazy_numpy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def sign_flip(steps: Mapping[int, int], observed: int) -> float:
    """Return the two-sided p value under the hypothesis that the sign of each statement's difference is a coin flip.

    `steps` maps the size of a difference to its number of statements. The p value is exact for any number of
    statements. If no statement repeats, the test is McNemar's exact test.
    """
    if observed == 0:
        return 1.0
    # The p value is the probability of a sum at least as extreme as `observed`. `spread` omits the most frequent size,
    # because only its cumulative probability is needed.
    *others, (times, size) = sorted(
        (times, size) for size, times in steps.items() if size and times
    )
    spread = np.ones(1)
    for one, step in others:
        spread = _add(spread, _walk(step, one))
    reach = (len(spread) - 1) // 2
    first, at_most = _chances_of_at_most(times)
    sums = np.arange(-reach, reach + 1)
    ups = (-abs(observed) - sums + size * times) // (2 * size) - first
    chances = np.where(ups < 0, 0.0, at_most[np.clip(ups, 0, len(at_most) - 1)])
    return float(min(1.0, 2 * (spread * chances).sum()))


def mcnemar_exact(gained: int, lost: int) -> float:
    """Return the two-sided p value of McNemar's exact test."""
    return sign_flip({1: gained + lost}, gained - lost)


def adjust_by_holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return the p values with Holm's correction (Holm 1979). A missing p value is treated as 1.

    The size of the family includes missing p values. Otherwise, a missing p value could make another significant.
    """
    order = sorted(range(len(p_values)), key=lambda place: _or_one(p_values[place]))
    adjusted: list[float | None] = [None] * len(p_values)
    worst = 0.0
    for rank, place in enumerate(order):
        worst = max(worst, min(1.0, (len(p_values) - rank) * _or_one(p_values[place])))
        adjusted[place] = None if p_values[place] is None else worst
    return adjusted


def _add(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the distribution of the sum of two variables. Convolve long distributions with Fourier transforms."""
    if min(len(one), len(other)) < 1_000:
        return np.convolve(one, other)
    length = len(one) + len(other) - 1
    product = np.fft.rfft(one, length) * np.fft.rfft(other, length)
    return np.maximum(np.fft.irfft(product, length), 0.0)


def _or_one(p_value: float | None) -> float:
    return 1.0 if p_value is None else p_value


def _walk(size: int, times: int) -> NDArray[np.float64]:
    """Return the distribution of the sum of `times` random steps of +`size` or -`size`, starting at the lowest sum."""
    first, shares = _chances_of(times)
    spread = np.zeros(2 * size * times + 1)
    spread[2 * size * first : 2 * size * (first + len(shares)) : 2 * size] = shares
    return spread


# Cached because a report uses the same numbers of steps repeatedly.
@lru_cache(maxsize=64)
def _chances_of_at_most(times: int) -> tuple[int, NDArray[np.float64]]:
    """Return `first` and the probabilities of at most `first`, `first + 1` ... heads in `times` coin flips.

    Below `first`, the probabilities are 0.
    """
    first, shares = _chances_of(times)
    return first, np.cumsum(shares)


def _chances_of(times: int) -> tuple[int, NDArray[np.float64]]:
    """Return `first` and the probabilities of `first`, `first + 1` ... heads in `times` coin flips.

    Probabilities that underflow are omitted.
    """
    # Calculate the ratios to the middle probability, from the middle outward, because powers of 2 would be out of
    # range. At 40 standard deviations, the ratio is exp(-800).
    middle = (times + 1) // 2
    ups = np.arange(middle, min(times, middle + 20 * isqrt(times) + 20))
    upper = np.exp(np.concatenate(([0.0], np.cumsum(np.log((times - ups) / (ups + 1))))))
    lower = upper[::-1] if times % 2 else upper[:0:-1]
    shares = np.concatenate((lower, upper))
    return (times - len(shares) + 1) // 2, shares / shares.sum()
