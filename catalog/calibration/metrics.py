"""What labels say about a scoring: precision against coverage, reliability, and the threshold to choose.

Pure: cases in, figures out. A case is one labelled version of one statement.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from core.intervals import Interval, wilson

BINS = 10
STEPS = 10  # of coverage
FEW = 30  # labels, below which an interval says next to nothing


class Case(NamedTuple):
    """A labelled case with its confidence; `may_match` is False if a rule forbids a match."""

    confidence: float
    may_match: bool
    is_match: bool


@dataclass(frozen=True)
class Share:
    """A share with its 95 % interval."""

    right: int
    count: int

    @property
    def value(self) -> float | None:
        """None if there is nothing to count."""
        return self.right / self.count if self.count else None

    @property
    def interval(self) -> Interval | None:
        return wilson(self.right, self.count) if self.count else None


@dataclass(frozen=True, kw_only=True)
class Point:
    """The result of answering all cases at or above this confidence."""

    threshold: float
    share: Share  # of what is answered
    cases: int  # all there are, answered or not

    @property
    def coverage(self) -> float:
        return self.share.count / self.cases if self.cases else 0.0


@dataclass(frozen=True, kw_only=True)
class Bin:
    """Cases of similar confidence: the mean confidence, and the share that was right."""

    low: float
    high: float
    promised: float
    share: Share


def draw_curve(cases: Sequence[Case]) -> list[Point]:
    """A point at each tenth of coverage that can be reached; equal confidences are answered together."""
    points = _points(cases)
    found = []
    for step in range(1, STEPS + 1):
        reached = [point for point in points if point.coverage >= step / STEPS - 1e-9]
        found += reached[:1]
    return found


def point_at(cases: Sequence[Case], threshold: float) -> Point:
    """What a threshold does."""
    answered = [case for case in cases if case.may_match and case.confidence >= threshold]
    right = sum(case.is_match for case in answered)
    return Point(threshold=threshold, share=Share(right, len(answered)), cases=len(cases))


def suggest_threshold(cases: Sequence[Case], *, wanted_precision: float) -> Point | None:
    """The lowest confidence with the wanted precision; None if no threshold reaches it."""
    good = [
        point
        for point in _points(cases)
        if point.share.right >= wanted_precision * point.share.count
    ]
    return good[-1] if good else None


def fill_bins(cases: Iterable[Case]) -> list[Bin]:
    """Confidences in tenths, without empty ones; only cases that may match have a confidence."""
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
    """The expected calibration error: the mean distance of confidence and outcome; None without cases."""
    bins = fill_bins(cases)
    total = sum(one.share.count for one in bins)
    if not total:
        return None
    apart = sum(one.share.count * abs(one.promised - (one.share.value or 0)) for one in bins)
    return apart / total


def brier_score(cases: Sequence[Case]) -> float | None:
    """The Brier score: the mean squared distance of confidence and outcome; None without cases."""
    weighed = [case for case in cases if case.may_match]
    if not weighed:
        return None
    return sum((case.confidence - case.is_match) ** 2 for case in weighed) / len(weighed)


def _points(cases: Sequence[Case]) -> list[Point]:
    """The result of each threshold at which something changes, from the highest down."""
    weighed = sorted((case for case in cases if case.may_match), reverse=True)
    points, count, right = [], 0, 0
    for confidence, group in groupby(weighed, key=lambda case: case.confidence):
        inside = list(group)
        count += len(inside)
        right += sum(case.is_match for case in inside)
        share = Share(right, count)
        points.append(Point(threshold=confidence, share=share, cases=len(cases)))
    return points
