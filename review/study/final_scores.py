"""The final score of a stage, from the scores that several reviewers gave to the same text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from statistics import median

from review.study.types import Standing


def final_of(
    values: Collection[int], *, adjudicated: int | None = None, is_complete: bool = True
) -> Standing:
    """The adjudicated score; else what more than half gave; else the median where somebody gave it.

    Without any of these it is unresolved; scored by some of those asked, it is pending. 0, 1, 2 gives 1;
    0, 2 gives none.
    """
    if adjudicated is not None:
        return Standing(str(adjudicated))
    if not values:
        return Standing.UNSCORED
    if not is_complete:
        return Standing.PENDING
    value, times = Counter(values).most_common(1)[0]
    if 2 * times > len(values):
        return Standing(str(value))
    middle = median(values)
    return Standing(f"{middle:.0f}") if middle in values else Standing.UNRESOLVED
