"""A table of the report, the common source of the page and of copied tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from review.report.charts.forest import ForestRow


@dataclass(frozen=True)
class Column:
    """A heading. Numbers are right-aligned and have their own columns in a CSV file. Drawings are not copied."""

    label: str
    is_number: bool = False
    has_numbers: bool = False  # mixed with words
    is_drawing: bool = False


@dataclass(frozen=True)
class Cell:
    """The content of a cell. On the page, it may also have a link, a note or a drawing."""

    text: str
    url: str = ""
    note: str = ""
    is_strong: bool = False
    is_demo: bool = False
    level: int | None = None  # of a heat map
    drawing: ForestRow | None = None
    zero: float | None = None  # the position of zero in the drawing


@dataclass(frozen=True)
class Group:
    """Rows under a common heading with its definition, or all rows if there are no headings."""

    rows: Sequence[Sequence[Cell]]
    heading: str = ""
    text: str = ""
    key: str = ""
    is_primary: bool = False
    badge: str = ""


@dataclass(frozen=True)
class Table:
    """A table with its name in URLs. `note` has warnings such as *not blind*."""

    key: str
    caption: str
    columns: Sequence[Column]
    groups: Sequence[Group]
    group_label: str = ""  # heading of the column with the group headings
    note: str = ""

    def __bool__(self) -> bool:
        return any(group.rows for group in self.groups)

    @property
    def is_narrow(self) -> bool:
        """Return whether the table has so few columns that full width would make its rows hard to follow."""
        return len(self.columns) <= 4

    @property
    def body(self) -> list[tuple[Group, list[list[tuple[Column, Cell]]]]]:
        """Return each group with its rows. Each cell is paired with its column."""
        return [
            (group, [list(zip(self.columns, row, strict=True)) for row in group.rows])
            for group in self.groups
        ]


def table_of(
    key: str,
    caption: str,
    columns: Sequence[Column],
    rows: Sequence[Sequence[Cell]],
    note: str,
) -> Table:
    """Return a table without groups. `note` is required, so that no table omits *not blind*."""
    return Table(key, caption, columns, [Group(rows)], note=note)


def number(text: object, **more: object) -> Cell:
    """Return a cell with a count, formatted with separators."""
    words = f"{text:,}" if isinstance(text, int) else str(text)
    return Cell(words, **more)  # type: ignore[arg-type]
