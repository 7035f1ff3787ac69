"""The elements of a section: blocks with a table, a chart, or both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from review.report.report_view import Json
from review.report.tables.table import Cell, Column, Table
from review.report.words import say_interval, say_ratio, say_share

ChartPoint = tuple[float, float | None, float | None]


@dataclass(frozen=True)
class LineChart:
    """Lines over a common x axis, for the `line_chart` tag. The table next to the chart shows the numbers."""

    lines: Sequence[tuple[str, Sequence[ChartPoint | None]]]
    places: Sequence[str]
    label: str


@dataclass(frozen=True)
class Block:
    """A part of a section. `arm` is set if the block is about one Configuration."""

    table: Table | None = None
    title: str = ""
    text: str = ""
    arm: Json | None = None
    chart: LineChart | None = None
    notes: Sequence[str] = ()
    url: str = ""
    url_label: str = ""


@dataclass(frozen=True)
class Section:
    """A section of the report, initially collapsed. `summary` is one line, and `text` contains the definitions."""

    key: str
    title: str
    blocks: Sequence[Block]
    summary: str = ""
    text: str = ""


def arm_cell(arm: Json) -> Cell:
    """Return a cell with the Configuration's name, marked if the demo model was involved."""
    return Cell(arm["name"], is_demo=bool(arm.get("demo")))


def share_columns(ratio: str = "") -> list[Column]:
    """Return the columns for `share_cells`. `ratio` replaces the heading "n/N"."""
    headings = (ratio or _("n/N"), _("Value"), _("95% interval"))
    return [Column(heading, is_number=True) for heading in headings]


def share_cells(share: Json, *, url: str = "") -> list[Cell]:
    """Return the cells of a share: ratio, value and interval. `url` links the ratio to the items."""
    return [
        Cell(say_ratio(share["numerator"], share["denominator"]), url=url),
        Cell(say_share(share["value"]), is_strong=True),
        Cell(say_interval(share["low"], share["high"]) + _why_none(share)),
    ]


def _why_none(share: Json) -> str:
    reason = share.get("no_interval")
    return f" ({_(reason)})" if reason else ""
