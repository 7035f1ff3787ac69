"""A table of the report. The page and the copied formats are generated from the same table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from review.report.charts.forest import ForestRow


@dataclass(frozen=True)
class Column:
    """A column of a table. Numbers are right-aligned, and each has its own CSV column. Drawings are not copied."""

    label: str
    is_number: bool = False
    has_numbers: bool = False  # numbers mixed with words
    is_drawing: bool = False


@dataclass(frozen=True)
class Cell:
    """The content of a cell: text, with an optional link, note or drawing."""

    text: str
    url: str = ""
    note: str = ""
    is_strong: bool = False
    is_demo: bool = False
    level: int | None = None  # shade in a heat map
    drawing: ForestRow | None = None
    zero: float | None = None  # the position of zero in the drawing


@dataclass(frozen=True)
class Group:
    """Rows under a common heading and its definition, or all rows of a table without group headings."""

    rows: Sequence[Sequence[Cell]]
    heading: str = ""
    text: str = ""
    key: str = ""
    is_primary: bool = False
    badge: str = ""


@dataclass(frozen=True)
class Table:
    """A table of the report. `key` is its name in URLs, and `note` contains warnings such as *not blind*."""

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
        """Return whether the table has too few columns for the full page width."""
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
    """Return a table without groups. `note` is required, so that no caller forgets *not blind*."""
    return Table(key, caption, columns, [Group(rows)], note=note)


def number(text: object, **more: object) -> Cell:
    """Return a cell with a count, formatted with separators."""
    words = f"{text:,}" if isinstance(text, int) else str(text)
    return Cell(words, **more)  # type: ignore[arg-type]
