"""CSV and other tables with one character between columns: a header, then a row for each record."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO, NamedTuple

from core.files import lines as files
from core.files.lines import Line, UnreadableFile, iterate_lines, say_too_long

SEPARATORS = ",;\t|"
_NO_HEADER = "The file has no header: its first line holds no names of columns."


class TableRow(NamedTuple):
    """The cells of a row and the line where it begins, or the problem with it."""

    line: int
    cells: Sequence[str] = ()
    problem: str = ""


class Table:
    """The rows under a header, read as they are requested.

    With `exact`, quotes must be closed and every row must have as many cells as the header; if a row fails, its
    lines are read again without the first, so that an open quote costs one row and not all rows after it. Otherwise
    quotes are read as spreadsheets read them, and only a row with too many cells is a problem.

    Bytes that are not UTF-8 become lone surrogates in the cells. Raises UnreadableFile for a header that cannot be
    used.
    """

    def __init__(self, file: BinaryIO, *, exact: bool, separators: str = SEPARATORS) -> None:
        csv.field_size_limit(files.MOST_BYTES)
        self._exact = exact
        self._feed = _Feed(iterate_lines(file))
        first = self._feed.take_line()
        if first is None:
            raise UnreadableFile(_NO_HEADER)
        separator = max(separators, key=first.count)
        row = next(csv.reader([first], delimiter=separator), [])
        self.columns = [name.strip() for name in row]
        _check_header(self.columns)
        self._rows = csv.reader(self._feed, delimiter=separator, strict=exact)

    def __iter__(self) -> Iterator[TableRow]:
        """Each row that is not blank."""
        while (row := self._next()) is not None:
            if row.problem or any(row.cells):
                yield row

    def _next(self) -> TableRow | None:
        feed = self._feed
        feed.taken, feed.size = [], 0
        cells: list[str] = []
        problem = ""
        try:
            cells = next(self._rows)
        except StopIteration:
            return None
        except _TooLong:
            problem = say_too_long()
        except csv.Error as error:
            problem = f"cannot be read as a row: {error}"
        first, *rest = feed.taken
        if not problem and any(cells):
            problem = self._wrong_length(len(cells))
        if self._exact and problem:
            feed.again += reversed(rest)
        return TableRow(first.number, () if problem else cells, problem)

    def _wrong_length(self, cells: int) -> str:
        columns = len(self.columns)
        if cells == columns or (cells < columns and not self._exact):
            return ""
        return f"has {cells} cells under {columns} columns"


class _TooLong(Exception):
    """A line, or a row of many lines, is too long."""


@dataclass
class _Feed:
    """Lines for csv.reader, counted, so that an open quote does not swallow the file."""

    lines: Iterator[Line]
    again: list[Line] = field(default_factory=list)  # the next line last
    taken: list[Line] = field(default_factory=list)
    size: int = 0

    def take_line(self) -> str | None:
        """The next line, or None at the end of the file or if it is too long."""
        line = next(self.lines, None)
        return None if line is None or line.data is None else _decode(line.data)

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self.again.pop() if self.again else next(self.lines)
        self.taken.append(line)
        self.size += len(line.data or b"")
        if line.data is None or self.size > files.MOST_BYTES:
            raise _TooLong
        return _decode(line.data)


def _decode(data: bytes) -> str:
    return data.decode(errors="surrogateescape")


def _check_header(names: Sequence[str]) -> None:
    if not any(names) or any(not name.isprintable() for name in names):
        raise UnreadableFile(_NO_HEADER)
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UnreadableFile(f"Two columns have the same name: {', '.join(twice)[:200]}.")
