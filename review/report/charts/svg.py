"""Write the rows of a forest plot as SVG. A report has about 50 rows, and a template would take 30 times as long."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.html import escape
from django.utils.safestring import SafeString

from review.report.charts.forest import ForestRow, Mark
from review.report.charts.scale import Tick

# The shape of each series, centered on 0, 0. Other series use _LAST_SHAPE.
_SHAPES = {
    1: '<circle r="4"/>',
    2: '<rect x="-3.5" y="-3.5" width="7" height="7"/>',
    3: '<path d="M0-5 5 0 0 5-5 0Z"/>',
}
_LAST_SHAPE = '<path d="M0-4.5 4.5 4H-4.5Z"/>'


def write_glyph(series: int) -> SafeString:
    """Return the mark of a Configuration, for legends and tables."""
    return SafeString(
        f'<svg class="glyph series-{series}" width="10" height="10" viewBox="-5 -5 10 10" aria-hidden="true">'
        f"{_shape(series)}</svg>"
    )


def write_marks(
    row: ForestRow, *, ticks: Sequence[Tick] = (), zero: float | None = None
) -> SafeString:
    """Return one row of a forest plot with marks and intervals. A table next to the plot shows the numbers.

    `ticks` are vertical lines through the row, and `zero` is the position of the line of no change.
    """
    parts = [f'<svg class="marks" width="100%" height="{row.height}" aria-hidden="true">']
    parts += [_upright("axis", tick.at) for tick in ticks]
    if zero is not None:
        parts.append(_upright("zero", zero))
    for mark in row.marks:
        parts += _mark(mark)
    return SafeString("".join([*parts, "</svg>"]))


def _mark(mark: Mark) -> list[str]:
    return [
        f'<g class="series-{mark.series}"><title>{escape(mark.title)}</title>',
        # The transparent area makes the whole lane react to the pointer.
        f'<rect class="hit" x="0" y="{mark.top}" width="100%" height="16"/>',
        _level("bounds", mark.outer_left, mark.outer_right, mark.y),
        _level("series", mark.left, mark.right, mark.y),
        _point(mark),
        "</g>",
    ]


def _point(mark: Mark) -> str:
    if mark.x is None:
        return ""
    return f'<svg x="{mark.x}%" y="{mark.y}" overflow="visible">{_shape(mark.series)}</svg>'


def _shape(series: int) -> str:
    return _SHAPES.get(series, _LAST_SHAPE)


def _upright(kind: str, at: float) -> str:
    return f'<line class="{kind}" x1="{at}%" y1="0" x2="{at}%" y2="100%"/>'


def _level(kind: str, left: float | None, right: float | None, y: float) -> str:
    if left is None:
        return ""
    return f'<line class="{kind}" x1="{left}%" y1="{y}" x2="{right}%" y2="{y}"/>'
