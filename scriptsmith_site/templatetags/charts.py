"""Template tags that render charts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from django import template

from scriptsmith_site.presentation.chart import Column, Line, Point, draw_lines, stack_bars
from scriptsmith_site.templatetags.shares import percentage_points
from scriptsmith_site.templatetags.show import duration, money, percent

register = template.Library()

_Values = tuple[float, float | None, float | None]


def _say_number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:g}"


_SAY: dict[str, Callable[[float], str]] = {
    "money": lambda value: money(round(value)),
    "number": _say_number,
    "points": percentage_points,
    "share": percent,
    "time": lambda value: duration(round(value)),
}


@register.inclusion_tag("components/_chart_bars.html")
def bar_chart(
    columns: Iterable[tuple[str, Sequence[float]]], series: Sequence[str], unit: str, label: str
) -> dict[str, object]:
    """Render stacked bars. `unit` is money (micro-dollars), number, share (0 to 1) or time (milliseconds)."""
    drawn = [Column(name, values) for name, values in columns]
    return {"chart": stack_bars(drawn, series=series, say=_SAY[unit]), "label": label}


@register.inclusion_tag("components/_chart_lines.html")
def line_chart(
    lines: Iterable[tuple[str, Sequence[_Values | None]]],
    places: Sequence[str],
    unit: str,
    label: str,
    most: float | None = None,
) -> dict[str, object]:
    """Render lines over the same positions. A point is (value, low, high) or None. `unit` is as in `bar_chart`."""
    drawn = [
        Line(name, [Point(*values) if values else None for values in points])
        for name, points in lines
    ]
    return {"chart": draw_lines(drawn, places=places, say=_SAY[unit], most=most), "label": label}
