"""A slope chart that shows how refinement changed flagged scripts: right and wrong before, right and wrong after.

The width of a band is proportional to the number of items that stayed right, were broken (right to wrong), were fixed
(wrong to right) or stayed wrong. The view box is in pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 280, 104
_TOP, _GAP = 6.0, 16.0
_BAR = 7.0
_LEFT, _RIGHT = 64.0, 216.0  # start of the left bar, and end of the right bar


@dataclass(frozen=True)
class FlowCounts:
    """The numbers of flagged items whose script and refined script both have a final score."""

    survived: int  # right before and after
    broken: int  # right before, wrong after
    fixed: int  # wrong before, right after
    still_wrong: int

    @property
    def total(self) -> int:
        return self.survived + self.broken + self.fixed + self.still_wrong


@dataclass(frozen=True)
class FlowWords:
    """The labels of the chart, translated by the caller."""

    right: str
    wrong: str
    survived: str
    broken: str
    fixed: str
    still_wrong: str


@dataclass(frozen=True)
class Bar:
    """A bar for the right or wrong items on one side, with its label."""

    kind: str
    x: float
    y: float
    height: float
    text: str
    text_x: float
    text_y: float
    anchor: str


@dataclass(frozen=True)
class Band:
    """A band between two bars: the corners of its polygon and its title."""

    kind: str
    points: str
    title: str


@dataclass(frozen=True)
class Flow:
    """All shapes of the chart. A chart without items is empty and evaluates to false."""

    bars: Sequence[Bar]
    bands: Sequence[Band]
    label: str
    width: int = WIDTH
    height: int = HEIGHT

    def __bool__(self) -> bool:
        return bool(self.bands)


def draw_flow(counts: FlowCounts, words: FlowWords) -> Flow:
    """Return the bars and bands of the chart. A band without items is omitted, and a bar without items is a line."""
    if not counts.total:
        return Flow([], [], "")
    room = (HEIGHT - 2 * _TOP - _GAP) / counts.total
    right_before, right_after = counts.survived + counts.broken, counts.survived + counts.fixed
    wrong_before, wrong_after = (
        counts.fixed + counts.still_wrong,
        counts.broken + counts.still_wrong,
    )
    low_before = _TOP + room * right_before + _GAP
    low_after = _TOP + room * right_after + _GAP
    bars = [
        _bar("right", _LEFT, _TOP, room * right_before, f"{words.right} {right_before:,}", "end"),
        _bar(
            "wrong",
            _LEFT,
            low_before,
            room * wrong_before,
            f"{words.wrong} {wrong_before:,}",
            "end",
        ),
        _bar(
            "right",
            _RIGHT - _BAR,
            _TOP,
            room * right_after,
            f"{words.right} {right_after:,}",
            "start",
        ),
        _bar(
            "wrong",
            _RIGHT - _BAR,
            low_after,
            room * wrong_after,
            f"{words.wrong} {wrong_after:,}",
            "start",
        ),
    ]
    # In this order, only the broken and fixed bands cross.
    starts = {
        "survived": (_TOP, _TOP, counts.survived, words.survived),
        "broken": (_TOP + room * counts.survived, low_after, counts.broken, words.broken),
        "fixed": (low_before, _TOP + room * counts.survived, counts.fixed, words.fixed),
        "still-wrong": (
            low_before + room * counts.fixed,
            low_after + room * counts.broken,
            counts.still_wrong,
            words.still_wrong,
        ),
    }
    bands = [
        Band(kind, _corners(before, after, room * count), f"{label}: {count:,}/{counts.total:,}")
        for kind, (before, after, count, label) in starts.items()
        if count
    ]
    label = ", ".join(band.title for band in bands)
    return Flow(bars, bands, label)


def _bar(kind: str, x: float, y: float, height: float, text: str, anchor: str) -> Bar:
    text_x = x - 6 if anchor == "end" else x + _BAR + 6
    return Bar(
        kind,
        x,
        _round(y),
        _round(max(height, 1)),
        text,
        text_x,
        _round(y + height / 2),
        anchor,
    )


def _corners(before: float, after: float, width: float) -> str:
    left, right = _LEFT + _BAR, _RIGHT - _BAR
    corners = [(left, before), (right, after), (right, after + width), (left, before + width)]
    return " ".join(f"{x:g},{_round(y):g}" for x, y in corners)


def _round(number: float) -> float:
    return round(number, 2)
