"""CSV, and what else separates columns by one character: a header, then a record a row."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from typing import BinaryIO

from core.files.records import MOST_BYTES, Lines, Record, UnreadableFile, too_long

SEPARATORS = ",;\t|"
# The column by which our own exports are known: only their cells carry the mark of `safe_text`.
OWN = "record"
_CALCULATES = re.compile(r"'*[=+\-@\t\r]")
_MARKED = re.compile(r"'+[=+\-@\t\r]")


def safe_text(text: str) -> str:
    """The text so that no spreadsheet calculates with it; `plain_text` gives exactly the text back."""
    return f"'{text}" if _CALCULATES.match(text) else text


def plain_text(text: str) -> str:
    """What `safe_text` was given."""
    return text[1:] if _MARKED.match(text) else text


class _TooLong(Exception):
    """A line, or a row of many lines, is longer than is taken."""


class _Feed:
    """The lines of a row as text, counted, so that a quote left open does not swallow the file."""

    def __init__(self, file: BinaryIO) -> None:
        self._lines = Lines(file)
        self._iterator = iter(self._lines)
        self.taken = 0

    @property
    def number(self) -> int:
        return self._lines.number

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._iterator)
        self.taken += len(line or b"")
        if line is None or self.taken > MOST_BYTES:
            raise _TooLong
        # What is not UTF-8 becomes half characters, which the judge of the row finds and names.
        return line.decode(errors="surrogateescape")


def read_table(file: BinaryIO) -> Iterator[Record]:
    """A record for each row under the header; an empty cell is no value. Raises UnreadableFile."""
    csv.field_size_limit(MOST_BYTES)
    feed = _Feed(file)
    try:
        first = next(feed)
    except (StopIteration, _TooLong):
        raise UnreadableFile(
            "The file has no header: a first line with names of columns."
        ) from None
    separator = max(SEPARATORS, key=first.count)
    names = [name.strip() for name in next(csv.reader([first], delimiter=separator), [])]
    _check_header(names)
    yield from _read_rows(feed, names, separator)


def _read_rows(feed: _Feed, names: list[str], separator: str) -> Iterator[Record]:
    is_own = OWN in names
    rows = csv.reader(feed, delimiter=separator, strict=False)
    while True:
        feed.taken, line = 0, feed.number + 1
        try:
            cells = next(rows)
        except StopIteration:
            return
        except _TooLong:
            yield too_long(line)
        except csv.Error as error:
            yield Record(line, problem=f"is no row of CSV: {error}")
        else:
            if len(cells) > len(names):
                yield Record(line, problem=f"has {len(cells)} cells under {len(names)} columns")
            elif any(cells):
                pairs = zip(names, cells, strict=False)
                yield Record(
                    line,
                    {name: plain_text(cell) if is_own else cell for name, cell in pairs if cell},
                )


def _check_header(names: list[str]) -> None:
    if not any(names) or any(not name.isprintable() for name in names):
        raise UnreadableFile("The first line holds no names of columns.")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UnreadableFile(f"Two columns have the same name: {', '.join(twice)[:200]}.")
