"""What a section is made of: blocks, each a table or a chart, or both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from review.report.report_view import Json
from review.report.tables.table import Cell, Table

ChartPoint = tuple[float, float | None, float | None]


@dataclass(frozen=True)
class LineChart:
    """Lines over the same places, for the tag `line_chart`; the numbers stand in the table beside it."""

    lines: Sequence[tuple[str, Sequence[ChartPoint | None]]]
    places: Sequence[str]
    label: str


@dataclass(frozen=True)
class Block:
    """A part of a section. `arm` where it is about one Configuration; `kind` names a template of its own."""

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
    """Collapsed at first: `summary` says in one line what is inside. `text` is its definition in words."""

    key: str
    title: str
    blocks: Sequence[Block]
    summary: str = ""
    text: str = ""


def arm_cell(arm: Json) -> Cell:
    """The name of a Configuration, marked where the demo model had a part."""
    return Cell(arm["name"], is_demo=bool(arm.get("demo")))
