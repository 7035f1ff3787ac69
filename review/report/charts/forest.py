"""A forest plot with one axis and one row per figure. A row has a mark with an interval for each Configuration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from review.report.charts.scale import Scale, Tick

_LANE = 16.0  # height of each mark in pixels
_PADDING = 4.0
MOST_SERIES = 4  # number of distinct colors in the style sheet


@dataclass(frozen=True)
class Estimate:
    """A value with its interval, if known. `series` numbers the Configurations from 1."""

    series: int
    title: str
    value: float | None
    low: float | None = None
    high: float | None = None
    # Bounds of a value that depends on open items, rendered as a thin line behind the interval.
    least: float | None = None
    most: float | None = None


@dataclass(frozen=True)
class Mark:
    """A rendered estimate. `y` is in pixels, and x positions are in percent. `x` is None if only bounds are known."""

    series: int
    x: float | None
    y: float
    left: float | None
    right: float | None
    outer_left: float | None
    outer_right: float | None
    title: str

    @property
    def top(self) -> float:
        """Return the top of the mark's lane. The whole lane reacts to the pointer."""
        return self.y - _LANE / 2


@dataclass(frozen=True)
class ForestRow:
    """A row of the plot. Each row is a separate drawing, and `height` is in pixels."""

    key: str
    label: str
    height: float
    marks: Sequence[Mark]


@dataclass(frozen=True)
class Forest:
    """The rows and the axis of a forest plot. `zero` is the position of zero on a signed axis."""

    rows: Sequence[ForestRow]
    ticks: Sequence[Tick]
    zero: float | None

    def __bool__(self) -> bool:
        return bool(self.rows)


def draw_forest(rows: Sequence[tuple[str, str, Sequence[Estimate]]], scale: Scale) -> Forest:
    """Return a forest plot for rows of key, label and estimates. Rows without data are omitted.

    Colors repeat after MOST_SERIES, so the text next to each mark names its Configuration.
    """
    drawn = [_row(key, label, estimates, scale) for key, label, estimates in rows]
    return Forest([row for row in drawn if row.marks], scale.labels(), scale.zero)


def _row(key: str, label: str, estimates: Sequence[Estimate], scale: Scale) -> ForestRow:
    # An unknown value may still have bounds, which are rendered without a mark.
    known = [one for one in estimates if one.value is not None or one.least is not None]
    marks = [
        Mark(
            series=(one.series - 1) % MOST_SERIES + 1,
            x=_place(one.value, scale),
            y=_PADDING + _LANE * (place + 0.5),
            left=_place(one.low, scale),
            right=_place(one.high, scale),
            outer_left=_place(one.least, scale),
            outer_right=_place(one.most, scale),
            title=one.title,
        )
        for place, one in enumerate(known)
    ]
    return ForestRow(key, label, 2 * _PADDING + _LANE * len(known), marks)


def _place(value: float | None, scale: Scale) -> float | None:
    return None if value is None else scale.at(value)
