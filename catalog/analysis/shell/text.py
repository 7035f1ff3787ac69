"""Pieces of script text that are parsed on their own, and the way back to lines of the script."""

from __future__ import annotations

import time
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import tree_sitter_bash
from tree_sitter import Language, Node, Parser, Point

PARSE_SECONDS = 1.0
MAXIMUM_NODES = 150_000  # beyond it, walking the tree in Python would take seconds
_BASH = Language(tree_sitter_bash.language())
_CHUNK = 65_536  # bytes; after each the parser can be stopped


class Place(NamedTuple):
    """Where something stands in the script: lines and columns from 1, in characters."""

    line: int
    column: int
    end_line: int
    end_column: int


class TooComplex(Exception):
    """The text takes too long to parse or makes too large a tree to be walked."""


@dataclass(frozen=True, eq=False)
class Unit:
    """The script itself, or a text inside it that a shell will run (`bash -c`, a heredoc, ...).

    `within` is the place of an inner text in the unit around it. Where the inner text stands there
    letter for letter, places inside it are exact; where not, everything is said to be at `within`.
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
        """The text between two byte offsets."""
        return self.source[start:end].decode("utf-8", "replace")

    def place(self, start: int, end: int) -> Place:
        """Where these bytes stand in the script."""
        if self.within is None:
            return Place(*self._position(start), *self._position(end))
        if not self.exact:
            around = self.within.place
            line = self.line(start)
            return around if line == around.line else Place(line, 1, self.line(end), 1)
        return self.within.unit.place(self.within.start + start, self.within.start + end)

    def line(self, offset: int) -> int:
        """The line of the script that this byte stands in."""
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
    """From byte to byte in one unit; its place in the script is worked out only when asked for."""

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


def parse(source: bytes, *, seconds: float = PARSE_SECONDS) -> Node:
    """The root of the text's syntax tree; raises TooComplex instead of taking long.

    Text that is not valid Bash has a tree too, with `has_error` set. The node's own `text` is not
    available: read the source by its offsets.
    """
    deadline = time.monotonic() + seconds

    def read(offset: int, _: Point) -> bytes:
        return source[offset : offset + _CHUNK]

    def is_late(_: int, __: bool) -> bool:
        return time.monotonic() > deadline

    try:
        # A Parser may not be shared between threads, and costs next to nothing to make.
        root = Parser(_BASH).parse(read, progress_callback=is_late).root_node
    except ValueError as error:  # what tree-sitter raises when it was stopped
        raise TooComplex("it takes too long to parse") from error
    if root.descendant_count > MAXIMUM_NODES:
        raise TooComplex("it is too long")
    return root
