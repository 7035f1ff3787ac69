"""Plot growth as SVG, with one small plot per figure and two logarithmic axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from xml.sax.saxutils import escape

_ACROSS = 3  # plots per row
_WIDTH, _HEIGHT = 300, 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 18, 48, 38
_HEAD = 44
_INK, _MUTED, _GRID, _LINE = "#22303a", "#5b6b76", "#d9e0e4", "#1f6f8b"


@dataclass(frozen=True)
class Curve:
    """The values of a figure at each size."""

    what: str
    points: Sequence[tuple[int, float]]


def draw(curves: Sequence[Curve], *, across: str, title: str) -> str:
    """Return the plots as SVG. Curves without positive values are left out."""
    shown = [curve for curve in curves if any(value > 0 for _size, value in curve.points)]
    rows = ceil(len(shown) / _ACROSS)
    width, height = _ACROSS * _WIDTH, _HEAD + rows * _HEIGHT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="sans-serif" role="img" aria-label="{escape(title)}">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        _text(_LEFT - 40, 28, f"{title}, by {across}", size=17, fill=_INK, weight="600"),
    ]
    for place, curve in enumerate(shown):
        left, top = place % _ACROSS * _WIDTH, _HEAD + place // _ACROSS * _HEIGHT
        parts += [f'<g transform="translate({left} {top})">', *_plot(curve), "</g>"]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _plot(curve: Curve) -> list[str]:
    points = [(size, value) for size, value in curve.points if value > 0]
    sizes = _decades([size for size, _value in points])
    values = _decades([value for _size, value in points])
    bottom = _HEIGHT - _BOTTOM
    parts = [_text(_LEFT - 40, 20, curve.what, size=13, fill=_INK, weight="600")]
    for power in range(values[0], values[1] + 1):
        y = _place(10.0**power, values, bottom, _TOP)
        parts.append(_path([(_LEFT, y), (_WIDTH - _RIGHT, y)], _GRID, 1))
        parts.append(_text(_LEFT - 6, y + 4, _say(10.0**power), anchor="end"))
    for power in range(sizes[0], sizes[1] + 1):
        x = _place(10.0**power, sizes, _LEFT, _WIDTH - _RIGHT)
        parts.append(_path([(x, _TOP), (x, bottom)], _GRID, 1))
        parts.append(_text(x, bottom + 16, _say(10.0**power), anchor="middle"))
    at = [
        (
            _place(size, sizes, _LEFT, _WIDTH - _RIGHT),
            _place(value, values, bottom, _TOP),
            _say(value),
        )
        for size, value in points
    ]
    parts.append(_path([(x, y) for x, y, _said in at], _LINE, 2))
    for place, (x, y, said) in enumerate(at):
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{_LINE}"/>')
        # Align the first and the last label so that they don't overlap the axis and the next plot.
        anchor = "start" if place == 0 else "end" if place == len(at) - 1 else "middle"
        parts.append(_text(x, y - 8, said, anchor=anchor, fill=_INK))
    return parts


def _decades(values: Sequence[float]) -> tuple[int, int]:
    """Return the exponents of the powers of ten around the values. The exponents differ by at least 1."""
    least, most = floor(log10(min(values))), ceil(log10(max(values)))
    return least, max(most, least + 1)


def _place(value: float, decades: tuple[int, int], start: float, end: float) -> float:
    return start + (end - start) * (log10(value) - decades[0]) / (decades[1] - decades[0])


def _say(value: float) -> str:
    for limit, word in ((1e6, "M"), (1e3, "k")):
        if value >= limit:
            return f"{value / limit:.3g}{word}"
    return f"{value:.3g}"


def _path(points: Sequence[tuple[float, float]], colour: str, width: int) -> str:
    listed = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{listed}" fill="none" stroke="{colour}" stroke-width="{width}"/>'


def _text(
    x: float,
    y: float,
    said: str,
    *,
    size: int = 11,
    anchor: str = "start",
    fill: str = _MUTED,
    weight: str = "400",
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{fill}" '
        f'font-weight="{weight}">{escape(said)}</text>'
    )
