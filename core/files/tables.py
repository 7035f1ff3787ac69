"""Reads CSV and other tables with a one-character separator: a header, then a row for each record.

Accepts the variants that spreadsheets and pandas write: `sep=;` above the header, line breaks in header cells,
columns without a name, rows that end in a carriage return.
"""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from io import StringIO
from typing import BinaryIO, NamedTuple

from core.files import lines as files
from core.files.lines import Line, UnreadableFile, iterate_lines, open_text, say_too_long

SEPARATORS = ",;\t|"
_MOST_HEADER_LINES = 100
_SAID_SEPARATOR = re.compile(r'"?sep=([^\w"])"?[,;\t|]*\s*', re.IGNORECASE)
_QUOTED = re.compile(r'"[^"]*"')
_NAMELESS = re.compile(r"Unnamed: \d+")  # by pandas
_NO_HEADER = "The file has no header. Its first line must contain the column names."
_OPEN_HEADER = "A quote in the header is not closed."


class TableRow(NamedTuple):
    """The cells of a row and its first line number, or the problem with it."""

    line: int
    cells: Sequence[str] = ()
    problem: str = ""


class Table:
    """The rows under a header, read on demand.

    Quotes must be closed. If a row fails, its lines after the first are read again, so that an open quote costs one
    row rather than all rows after it. With `exact`, every row must have as many cells as the header; otherwise, cells
    may be missing at the end. Bytes that are not text become lone surrogates. Raises UnreadableFile for an unusable
    header.
    """

    def __init__(self, file: BinaryIO, *, exact: bool, separators: str = SEPARATORS) -> None:
        csv.field_size_limit(files.MOST_BYTES)
        self._exact = exact
        self._feed = _Feed(iterate_lines(open_text(file, is_table=True)))
        self._separator, names = self._read_header(separators)
        self._width = len(names)
        # The first column may be the pandas index, which has no name.
        self._nameless = [place for place, name in enumerate(names) if place and not name]
        self._named = [place for place, name in enumerate(names) if name]
        self.columns = [name for name in names if name]
        _check_header(self.columns)
        self._rows = csv.reader(self._feed, delimiter=self._separator, strict=True)
        # After a quote error, until the next complete row: the lines may be the rest of a text.
        self._in_doubt = False
        self._are_all_short: bool | None = None  # unknown before the first row

    def __iter__(self) -> Iterator[TableRow]:
        """Yield each row that is not blank."""
        while (row := self._next()) is not None:
            if row.problem or any(row.cells):
                yield row

    def _read_header(self, separators: str) -> tuple[str, list[str]]:
        """Return the separator and the column names, without empty names at the end."""
        said = _SAID_SEPARATOR.fullmatch(first := self._take_header())
        header = self._take_header() if said else first
        plain = _QUOTED.sub("", header)
        separator = said[1] if said else max(separators, key=plain.count)
        lines = csv.reader(StringIO(header, newline=""), delimiter=separator, strict=True)
        try:
            row = next(lines, [])
        except csv.Error:
            raise UnreadableFile(_OPEN_HEADER) from None
        self._feed.again += reversed(self._feed.taken[max(lines.line_num, 1) :])
        names = [_clean_name(name) for name in row]
        while names and not names[-1]:
            names.pop()
        return separator, names

    def _take_header(self) -> str:
        """Return the first lines that are not blank, up to the end of a quoted cell. Raises UnreadableFile."""
        feed, header = self._feed, ""
        try:
            while not header.strip(' \r\n"' + SEPARATORS):
                feed.taken, feed.size = [], 0
                header = next(feed)
            while header.count('"') % 2 and len(feed.taken) < _MOST_HEADER_LINES:
                header += next(feed)
        except (StopIteration, _TooLong):
            pass
        if header.count('"') % 2:
            raise UnreadableFile(_OPEN_HEADER)
        return header

    def _next(self) -> TableRow | None:
        feed = self._feed
        feed.taken, feed.size = [], 0
        cells: Sequence[str] = ()
        problem = ""
        try:
            cells = next(self._rows)
        except StopIteration:
            return self._end()
        except _TooLong:
            problem = say_too_long()
        except csv.Error as error:
            problem = f"cannot be read as a row; check its quotes: {error}"
        first, *rest = feed.taken
        if not problem and (len(cells) != self._width or len(self._named) != self._width):
            cells, problem = self._fit(cells)
        if rest and not problem and self._looks_like_rows(feed.taken):
            problem = (
                f"looks like several rows up to line {rest[-1].number}; check for an unclosed quote"
            )
        if problem:
            feed.again += reversed(rest)
            self._in_doubt = self._in_doubt or bool(rest or not cells)
            return TableRow(first.number, problem=problem)
        is_whole = len(cells) == len(self._named)
        self._in_doubt = self._in_doubt and not is_whole
        if any(cells):
            self._are_all_short = self._are_all_short is not False and not is_whole
        return TableRow(first.number, cells)

    def _end(self) -> TableRow | None:
        """Return a problem if every row is shorter than the header, which may have swallowed the first one."""
        if not self._are_all_short:
            return None
        self._are_all_short = False
        return TableRow(1, problem="is longer than every row; check the header for errors")

    def _fit(self, cells: Sequence[str]) -> tuple[Sequence[str], str]:
        """Return the cells of the columns with a name; the others must be empty."""
        width = self._width
        extra = [*cells[width:], *(cells[place] for place in self._nameless if place < len(cells))]
        is_short = len(cells) < width and (self._exact or self._in_doubt) and any(cells)
        if is_short or any(cell.strip() for cell in extra):
            return cells, f"has {len(cells)} cells, but the header has {width} columns"
        return [cells[place] for place in self._named if place < len(cells)], ""

    def _looks_like_rows(self, lines: Sequence[Line]) -> bool:
        """Return whether each line of a row has as many cells as the header, unlike the lines of a long text."""
        wanted = self._width - 1
        counts = ((line.text or "").count(self._separator) for line in lines)
        return wanted > 1 and all(count == wanted for count in counts)


class _TooLong(Exception):
    """A line, or a row of many lines, is too long."""


@dataclass
class _Feed:
    """Lines for csv.reader, with a size limit so that an open quote does not swallow the file."""

    lines: Iterator[Line]
    again: list[Line] = field(default_factory=list)  # the next line last
    taken: list[Line] = field(default_factory=list)
    size: int = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self.again.pop() if self.again else next(self.lines)
        self.taken.append(line)
        self.size += len(line.text or "")
        if line.text is None or self.size > files.MOST_BYTES:
            raise _TooLong
        return line.text


def _clean_name(name: str) -> str:
    """Return a column's name on one line, in one Unicode form; empty for a name that pandas generated."""
    name = unicodedata.normalize("NFC", " ".join(name.replace("\u200b", "").split()))
    return "" if _NAMELESS.fullmatch(name) else name


def _check_header(names: Sequence[str]) -> None:
    if not names or any(not name.isprintable() for name in names):
        raise UnreadableFile(_NO_HEADER)
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UnreadableFile(f"Two columns have the same name: {', '.join(twice)[:200]}.")
