"""Calculate the SVG geometry of charts: stacked bars over time, and lines with intervals.

Horizontal positions are percentages of the drawing's width, so that the chart fills the page while its text keeps its
size. Vertical positions are pixels. Colors are CSS classes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

HEIGHT = 200  # pixels, including the labels below the axis
_TOP, _FLOOR = 12.0, 176.0
_MOST_LABELS = 12
MOST_SERIES = 4  # the number of series colors in the stylesheet

_Say = Callable[[float], str]  # formats a value as text


@dataclass(frozen=True)
class Column:
    """A position on the axis with one nonnegative value per series."""

    label: str
    values: Sequence[float]


@dataclass(frozen=True)
class Point:
    """A value with an optional interval."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Line:
    """A series of points. A position without a value is None."""

    label: str
    points: Sequence[Point | None]


@dataclass(frozen=True)
class Tick:
    """A horizontal line at a round value."""

    y: float
    label: str


@dataclass(frozen=True)
class Label:
    """A label below the axis. Minor labels are hidden on narrow screens."""

    x: float
    text: str
    minor: bool


@dataclass(frozen=True)
class Segment:
    """The part of a bar that belongs to one series, with its tooltip."""

    series: int
    x: float
    y: float
    width: float
    height: float
    title: str


@dataclass(frozen=True)
class Stroke:
    """A straight line between two points of a series."""

    series: int
    x1: float
    y1: float
    x2: float
    y2: float


@dataclass(frozen=True)
class Dot:
    """A value of a line. `low` and `high` are the vertical positions of the ends of its interval."""

    series: int
    x: float
    y: float
    low: float | None
    high: float | None
    title: str


@dataclass(frozen=True)
class Chart:
    """A complete chart to render. `legend` lists the names of the series in order."""

    ticks: Sequence[Tick]
    labels: Sequence[Label]
    legend: Sequence[str]
    segments: Sequence[Segment] = ()
    strokes: Sequence[Stroke] = ()
    dots: Sequence[Dot] = ()
    height: int = HEIGHT
    floor: float = _FLOOR


def stack_bars(columns: Sequence[Column], *, series: Sequence[str], say: _Say) -> Chart:
    """Return a chart with one bar per column. The first series is at the bottom.

    `say` formats a value as text. Raises ValueError if there are more than MOST_SERIES series or if a column does not
    have exactly one value per series.
    """
    if len(series) > MOST_SERIES:
        raise ValueError(f"a chart has at most {MOST_SERIES} series, not {len(series)}")
    if any(len(column.values) != len(series) for column in columns):
        raise ValueError("each column needs one value per series")
    ticks = _ticks(max((sum(column.values) for column in columns), default=0))
    segments = [
        segment
        for place, column in enumerate(columns)
        for segment in _bar(place, column, len(columns), series, ticks[-1], say)
    ]
    return Chart(
        ticks=[Tick(_down(tick, ticks[-1]), say(tick)) for tick in ticks],
        labels=_labels([column.label for column in columns]),
        legend=list(series),
        segments=segments,
    )


def draw_lines(
    lines: Sequence[Line],
    *,
    places: Sequence[str],
    say: _Say,
    most: float | None = None,
) -> Chart:
    """Return a chart with one line per series over the same positions. A bar shows the interval of each value.

    `most` is the top of the scale if it is known, such as 1 for proportions. Raises ValueError if there are more than
    MOST_SERIES lines or if a line does not have exactly one point or None per position.
    """
    if len(lines) > MOST_SERIES:
        raise ValueError(f"a chart has at most {MOST_SERIES} lines, not {len(lines)}")
    if any(len(line.points) != len(places) for line in lines):
        raise ValueError("each line needs a point or None for each position")
    known = [point for line in lines for point in line.points if point]
    top = most or max((max(point.value, point.high or 0) for point in known), default=0)
    ticks = _ticks(top)
    dots = [
        _dot(number, _middle(place, len(places)), point, ticks[-1], f"{line.label}, {name}", say)
        for number, line in enumerate(lines, start=1)
        for place, (name, point) in enumerate(zip(places, line.points, strict=True))
        if point
    ]
    return Chart(
        ticks=[Tick(_down(tick, ticks[-1]), say(tick)) for tick in ticks],
        labels=_labels(places),
        legend=[line.label for line in lines],
        strokes=list(_strokes(lines, ticks[-1])),
        dots=dots,
    )


def _bar(
    place: int,
    column: Column,
    count: int,
    series: Sequence[str],
    top: float,
    say: _Say,
) -> Iterator[Segment]:
    room = 100 / count
    below = 0.0
    for number, (name, value) in enumerate(zip(series, column.values, strict=True), start=1):
        if value > 0:
            upper = _down(below + value, top)
            yield Segment(
                series=number,
                x=_round(room * (place + 0.15)),
                y=upper,
                width=_round(room * 0.7),
                height=_round(_down(below, top) - upper),
                title=f"{column.label}: {name}, {say(value)}",
            )
            below += value


def _dot(number: int, x: float, point: Point, top: float, where: str, say: _Say) -> Dot:
    if point.low is None or point.high is None:
        low = high = None
        words = f"{where}: {say(point.value)}"
    else:
        low, high = _down(point.low, top), _down(point.high, top)
        words = f"{where}: {say(point.value)} ({say(point.low)} to {say(point.high)})"
    return Dot(series=number, x=x, y=_down(point.value, top), low=low, high=high, title=words)


def _strokes(lines: Sequence[Line], top: float) -> Iterator[Stroke]:
    """Yield strokes between adjacent points only, so that gaps stay open."""
    for number, line in enumerate(lines, start=1):
        count = len(line.points)
        for place in range(1, count):
            old, new = line.points[place - 1], line.points[place]
            if old and new:
                yield Stroke(
                    series=number,
                    x1=_middle(place - 1, count),
                    y1=_down(old.value, top),
                    x2=_middle(place, count),
                    y2=_down(new.value, top),
                )


def _ticks(most: float) -> list[float]:
    """Return round values from 0 to the first round value at or above `most`, usually three to six values."""
    if most <= 0:
        return [0.0, 1.0]
    power = 10.0 ** math.floor(math.log10(most / 4))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor * 5 >= most)
    return [step * number for number in range(math.ceil(most / step - 1e-9) + 1)]


def _labels(texts: Sequence[str]) -> list[Label]:
    """Return at most _MOST_LABELS evenly spaced labels. One label in three is major."""
    every = max(1, math.ceil(len(texts) / _MOST_LABELS))
    return [
        Label(_middle(place, len(texts)), text, minor=place // every % 3 != 0)
        for place, text in enumerate(texts)
        if place % every == 0
    ]


def _middle(place: int, count: int) -> float:
    return _round((place + 0.5) * 100 / count)


def _down(value: float, top: float) -> float:
    return _round(_FLOOR - (_FLOOR - _TOP) * value / top)


def _round(number: float) -> float:
    return round(number, 2)
