"""Label statistics for a scoring: precision by coverage, reliability, and a suggested threshold.

The functions have no side effects. A case is one labeled version of one statement.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from core.intervals import Interval, wilson

BINS = 10
STEPS = 10  # number of coverage steps
FEW = 30  # labels; with fewer, intervals are too wide to be useful


class Case(NamedTuple):
    """A labeled case with its confidence. `may_match` is False if a rule forbids a match."""

    confidence: float
    may_match: bool
    is_match: bool


@dataclass(frozen=True)
class Share:
    """A proportion with its 95% interval."""

    right: int
    count: int

    @property
    def value(self) -> float | None:
        """Return the proportion, or None if there are no cases."""
        return self.right / self.count if self.count else None

    @property
    def interval(self) -> Interval | None:
        return wilson(self.right, self.count) if self.count else None


@dataclass(frozen=True, kw_only=True)
class Point:
    """The result of answering all cases with at least this confidence."""

    threshold: float
    share: Share  # share of matches among the answered cases
    cases: int  # all cases, answered or not

    @property
    def coverage(self) -> float:
        return self.share.count / self.cases if self.cases else 0.0


@dataclass(frozen=True, kw_only=True)
class Bin:
    """Cases of similar confidence, with the mean confidence and the proportion of matches."""

    low: float
    high: float
    promised: float
    share: Share


def draw_curve(cases: Sequence[Case]) -> list[Point]:
    """Return the first point at or above each tenth of coverage. Cases with equal confidence are answered together."""
    points = _points(cases)
    found = []
    for step in range(1, STEPS + 1):
        reached = [point for point in points if point.coverage >= step / STEPS - 1e-9]
        found += reached[:1]
    return found


def point_at(cases: Sequence[Case], threshold: float) -> Point:
    """Return the precision and coverage at a threshold."""
    answered = [case for case in cases if case.may_match and case.confidence >= threshold]
    right = sum(case.is_match for case in answered)
    return Point(threshold=threshold, share=Share(right, len(answered)), cases=len(cases))


def suggest_threshold(cases: Sequence[Case], *, wanted_precision: float) -> Point | None:
    """Return the lowest threshold with the target precision, or None if no threshold reaches it."""
    good = [
        point
        for point in _points(cases)
        if point.share.right >= wanted_precision * point.share.count
    ]
    return good[-1] if good else None


def fill_bins(cases: Iterable[Case]) -> list[Bin]:
    """Return the nonempty confidence bins. Cases that may not match are left out."""
    weighed = sorted(case for case in cases if case.may_match)
    found = []
    for place, group in groupby(
        weighed, key=lambda case: min(int(case.confidence * BINS), BINS - 1)
    ):
        inside = list(group)
        found.append(
            Bin(
                low=place / BINS,
                high=(place + 1) / BINS,
                promised=sum(case.confidence for case in inside) / len(inside),
                share=Share(sum(case.is_match for case in inside), len(inside)),
            )
        )
    return found


def calibration_error(cases: Sequence[Case]) -> float | None:
    """Return the expected calibration error (ECE) over the confidence bins, or None if there are no cases."""
    bins = fill_bins(cases)
    total = sum(one.share.count for one in bins)
    if not total:
        return None
    apart = sum(one.share.count * abs(one.promised - (one.share.value or 0)) for one in bins)
    return apart / total


def brier_score(cases: Sequence[Case]) -> float | None:
    """Return the Brier score (mean squared distance between confidence and outcome), or None if there are no cases."""
    weighed = [case for case in cases if case.may_match]
    if not weighed:
        return None
    return sum((case.confidence - case.is_match) ** 2 for case in weighed) / len(weighed)


def _points(cases: Sequence[Case]) -> list[Point]:
    """Return the point of each distinct confidence, highest first."""
    weighed = sorted((case for case in cases if case.may_match), reverse=True)
    points, count, right = [], 0, 0
    for confidence, group in groupby(weighed, key=lambda case: case.confidence):
        inside = list(group)
        count += len(inside)
        right += sum(case.is_match for case in inside)
        share = Share(right, count)
        points.append(Point(threshold=confidence, share=share, cases=len(cases)))
    return points
