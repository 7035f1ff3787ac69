"""Pieces of script text that are parsed separately, and the mapping of their positions to lines of the script."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple


class Place(NamedTuple):
    """A range in the script. Lines and columns start at 1. Columns are in characters."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, eq=False)
class Unit:
    """The script itself, or a text inside it that a shell will run, such as a heredoc.

    `within` is the span of an inner text in the outer unit. Positions in a verbatim inner text are exact. In any other
    inner text, all parts have the position of `within`.
    """

    source: bytes
    within: Span | None = None
    exact: bool = False
    depth: int = 0

    @cached_property
    def _line_starts(self) -> list[int]:
        starts = [0]
        found = self.source.find(b"\n")
        while found != -1:
            starts.append(found + 1)
            found = self.source.find(b"\n", found + 1)
        return starts

    def text(self, start: int, end: int) -> str:
        """Return the text between two byte offsets."""
        return self.source[start:end].decode("utf-8", "replace")

    def place(self, start: int, end: int) -> Place:
        """Return the position of these bytes in the script."""
        if self.within is None:
            return Place(*self._position(start), *self._position(end))
        if not self.exact:
            around = self.within.place
            line = self.line(start)
            return around if line == around.line else Place(line, 1, self.line(end), 1)
        return self.within.unit.place(self.within.start + start, self.within.start + end)

    def line(self, offset: int) -> int:
        """Return the line of the script that contains this byte."""
        row = bisect_right(self._line_starts, offset)
        if self.within is None:
            return row
        return self.within.line + (row - 1 if self._keeps_lines else 0)

    @cached_property
    def _keeps_lines(self) -> bool:
        assert self.within is not None
        outer = self.within.unit.source
        return len(self._line_starts) - 1 == outer.count(b"\n", self.within.start, self.within.end)

    def _position(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._line_starts, offset)
        return line, len(self.text(self._line_starts[line - 1], offset)) + 1


@dataclass(frozen=True, slots=True, eq=False)
class Span:
    """A range of bytes in one unit. The position in the script is computed on demand."""

    unit: Unit
    start: int
    end: int

    @property
    def place(self) -> Place:
        return self.unit.place(self.start, self.end)

    @property
    def line(self) -> int:
        return self.unit.line(self.start)

    @property
    def text(self) -> str:
        return self.unit.text(self.start, self.end)
