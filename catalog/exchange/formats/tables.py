"""CSV: a header, then a row for each entry. Lists stand in their cell as a person would type them, or as JSON."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO, NamedTuple

from catalog.exchange.formats.records import EntryRecord, Row, read_record
from core.files import cells
from core.files.lines import MOST_BYTES, Line, UnreadableFile, iterate_lines, say_too_long

SEPARATORS = ",;\t"
_NOT_UTF8 = re.compile("[\udc80-\udcff]")


class _Kind(NamedTuple):
    """How a value stands in a cell, and how it is read from it."""

    write: Callable[..., str]
    read: Callable[[str], object]


_TEXT = _Kind(str, str)
_WORDS = _Kind(cells.write_words, cells.read_words)
_LINES = _Kind(cells.write_lines, cells.read_lines)
_FLAG = _Kind(cells.write_flag, cells.read_flag)
_JSON = _Kind(cells.write_object, cells.read_object)

_COLUMNS: dict[str, _Kind] = {
    "slug": _TEXT,
    "title": _TEXT,
    "script": _TEXT,
    "phrasings": _LINES,
    "parameters": _JSON,
    "tags": _WORDS,
    "risk": _TEXT,
    "side_effect": _TEXT,
    "runs_on": _TEXT,
    "operating_system": _TEXT,
    "shell": _TEXT,
    "tools": _WORDS,
    "privileges": _TEXT,
    "check_before": _TEXT,
    "check_after": _TEXT,
    "undo": _TEXT,
    "repeatable": _FLAG,
    "owner": _TEXT,
    "links": _JSON,
    "state": _TEXT,
    "suspended": _TEXT,
    "number": _JSON,
    "about": _JSON,
    "versions": _JSON,
    "title_confirmed": _FLAG,
}
COLUMNS = tuple(_COLUMNS)
_NEEDED = ("title", "script")


def read_table(file: BinaryIO) -> Iterator[Row]:
    """A row for each row under the header that is not blank. Raises UnreadableFile."""
    csv.field_size_limit(MOST_BYTES)
    feed = _Feed(iterate_lines(file))
    separator, names = _read_header(feed)
    while (taken := feed.take_row(separator, columns=len(names))) is not None:
        place = f"line {taken.line}"
        if taken.problem:
            yield Row(place=place, problem=taken.problem)
        elif any(taken.cells):
            yield read_cells(names, taken.cells, place=place)


def read_cells(names: Sequence[str], row: Sequence[str], *, place: str) -> Row:
    """The row of these cells under these columns, each of which is one of COLUMNS."""
    if len(row) != len(names):
        return Row(place=place, problem=f"has {len(row)} cells under {len(names)} columns")
    values: dict[str, object] = {}
    for name, cell in zip(names, row, strict=True):
        if _NOT_UTF8.search(cell):
            return Row(place=place, problem=f"{name}: is not UTF-8")
        if not cell:
            continue
        try:
            values[name] = _COLUMNS[name].read(cells.plain_cell(cell))
        except RecursionError:
            return Row(place=place, problem=f"{name}: is nested too deeply")
        except ValueError as error:
            return Row(place=place, problem=f"{name}: is no JSON: {str(error)[:200]}")
    return read_record(values, place=place)


def cells_of(record: EntryRecord) -> list[str]:
    """The cells of a record, in the order of COLUMNS, such that no spreadsheet calculates with them."""
    plain = record.plain()
    return [
        cells.safe_cell(kind.write(plain[name])) if name in plain else ""
        for name, kind in _COLUMNS.items()
    ]


def check_columns(names: Sequence[str]) -> None:
    """Raise UnreadableFile unless these are columns of the catalogue, each once, and the needed ones."""
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UnreadableFile(f"Two columns have the same name: {', '.join(twice)[:200]}.")
    missing = [name for name in _NEEDED if name not in names]
    if missing:
        raise UnreadableFile(f"The first line has no column {' and no column '.join(missing)}.")
    unknown = [name for name in names if name not in _COLUMNS]
    if unknown:
        raise UnreadableFile(
            f"Nobody knows the column {unknown[0][:100]!r}. Possible are: {', '.join(COLUMNS)}."
        )


def _read_header(feed: _Feed) -> tuple[str, list[str]]:
    first = feed.take_line()
    if first is None or not first.strip():
        raise UnreadableFile("The file has no header: a first line with names of columns.")
    separator = max(SEPARATORS, key=first.count)
    names = [name.strip() for name in next(csv.reader([first], delimiter=separator), [])]
    check_columns(names)
    return separator, names


class _Taken(NamedTuple):
    """The cells of one row, or what is wrong with it."""

    line: int
    cells: Sequence[str] = ()
    problem: str = ""


class _TooLong(Exception):
    """A line, or a row of many lines, is longer than is taken."""


@dataclass
class _Feed:
    """Lines for csv.reader; those of a row that turns out to be none are read once more without its first.

    So a quote that is left open costs its own row, and not all that stand behind it.
    """

    lines: Iterator[Line]
    again: list[Line] = field(default_factory=list)  # the next line last
    taken: list[Line] = field(default_factory=list)
    size: int = 0

    def take_line(self) -> str | None:
        """The next line, or None at the end of the file or where it is too long."""
        line = next(self.lines, None)
        return None if line is None or line.data is None else _decode(line.data)

    def take_row(self, separator: str, *, columns: int) -> _Taken | None:
        """The next row, or None at the end of the file."""
        self.taken, self.size = [], 0
        problem = ""
        try:
            row = next(csv.reader(self, delimiter=separator, strict=True))
        except StopIteration:
            return None
        except _TooLong:
            row, problem = [], say_too_long()
        except csv.Error as error:
            row, problem = [], f"is no row of CSV: {error}"
        first, *rest = self.taken
        if problem or len(row) != columns:
            self.again += reversed(rest)
        return _Taken(first.number, row, problem)

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self.again.pop() if self.again else next(self.lines)
        self.taken.append(line)
        self.size += len(line.data or b"")
        if line.data is None or self.size > MOST_BYTES:
            raise _TooLong
        return _decode(line.data)


def _decode(data: bytes) -> str:
    # What is not UTF-8 becomes half characters, which the row finds and names.
    return data.decode(errors="surrogateescape")
