"""Open a file of records, detect its format and track how far it has been read.

`_FORMATS` lists the readable formats, with titles for forms and commands.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from enum import StrEnum
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, NamedTuple

from core.files.cells import NO_VALUE, plain_cell
from core.files.json_arrays import has_array, read_json_array
from core.files.json_lines import read_json_lines
from core.files.lines import UnreadableFile, open_text
from core.files.records import Record
from core.files.tables import Table
from core.translation import gettext_noop as _


class Format(StrEnum):
    """The format of a file. The last two formats are JSON or JSONL with their own column names.

    CSV includes all text tables. The separator (comma, semicolon, tab or |) is detected from the header.
    """

    JSONL = "jsonl"
    CSV = "csv"
    JSON = "json"
    INTERCODE = "intercode"
    EABENCH = "nl2bash-eabench"


# The column that identifies our own exports. Only their cells are escaped by `safe_cell`.
OWN = "record"
_PEEK = 1 << 16
_IS_1252 = "the file is not UTF-8 and was read as Windows-1252; check accented letters"


def _read_table(file: BinaryIO) -> Iterator[Record]:
    """Yield a record for each row, without empty cells."""
    table = Table(file, exact=False)
    is_own = OWN in table.columns
    for line, cells, problem in table:
        pairs = zip(table.columns, cells, strict=False)
        if problem:
            yield Record(line, problem=problem)
        elif is_own:
            yield Record(line, {name: plain_cell(cell) for name, cell in pairs if cell})
        else:
            # Check the length first, because the lookup hashes the text, which takes as long as reading it.
            filled = (pair for pair in pairs if len(pair[1]) > 4 or pair[1] not in NO_VALUE)
            yield Record(line, dict(filled))


class _Known(NamedTuple):
    """A readable format. `endings` lists the file name extensions, in lowercase."""

    title: str
    endings: tuple[str, ...]
    read: Callable[[BinaryIO], Iterator[Record]]
    # True if the file name extension alone identifies the format.
    is_told_by_name: bool = False
    unit: str = _("line")  # the unit of record numbers


_FORMATS: dict[Format, _Known] = {
    Format.JSONL: _Known("JSONL", (".jsonl", ".ndjson"), read_json_lines),
    Format.CSV: _Known("CSV, TSV", (".csv", ".tsv"), _read_table, is_told_by_name=True),
    Format.JSON: _Known("JSON", (".json",), read_json_array, unit=_("element")),
}
FORMAT_TITLES = ", ".join(known.title for known in _FORMATS.values())


def format_by_name(name: str) -> Format | None:
    """Return the format if the file name alone identifies it, or None."""
    for format, known in _FORMATS.items():
        if known.is_told_by_name and _ends_as(format, name):
            return format
    return None


def unit_of(format: str) -> str:
    """Return the unit of a file's record numbers, as a translatable word."""
    known = _FORMATS.get(Format(format)) if format else None
    return known.unit if known else _FORMATS[Format.JSONL].unit


def _ends_as(format: Format, name: str) -> bool:
    return name.lower().endswith(_FORMATS[format].endings)


class Source:
    """The records of a file, which can be read only once.

    Raises OSError, and UnreadableFile for an empty or binary file.
    """

    def __init__(self, path: Path, *, format: str = "") -> None:
        self._file: BufferedReader = path.open("rb")
        try:
            text = open_text(self._file)
            peek = text.read(_PEEK)
            text.detach()
            _refuse_binary(peek)
            self.layout = _layout(peek, path.name, Format(format) if format else None)
            is_table = _FORMATS[self.layout].read is _read_table
            table = open_text(self._file, is_table=is_table)
            # A remark about the whole file.
            self.remark = _IS_1252 if table.encoding == "cp1252" else ""
            table.detach()
        except BaseException:
            self._file.close()
            raise
        self._file.seek(0)
        self._path = path
        self.size = path.stat().st_size

    def __iter__(self) -> Iterator[Record]:
        with self._file:
            yield from _FORMATS[self.layout].read(self._file)

    def first(self) -> Record | None:
        """Return the first record or None.

        The file is opened again, so that iteration still starts with this record.
        """
        with self._path.open("rb") as file:
            return next(_FORMATS[self.layout].read(file), None)

    def close(self) -> None:
        """Close the file, for callers that do not read all records."""
        self._file.close()

    @property
    def unit(self) -> str:
        """Return the unit of record numbers, such as "line"."""
        return _FORMATS[self.layout].unit

    @property
    def position(self) -> int:
        """Return the number of bytes read so far."""
        return self.size if self._file.closed else self._file.tell()


def _layout(peek: str, name: str, wanted: Format | None) -> Format:
    if wanted in _FORMATS:
        return wanted
    text = peek.lstrip()
    if not text:
        raise UnreadableFile("The file is empty.")
    if wanted is None and (named := format_by_name(name)):
        return named
    if text.startswith("["):
        is_line = _ends_as(Format.JSONL, name) and isinstance(_first_line(text), list)
        return Format.JSONL if is_line else Format.JSON
    if text.startswith("{"):
        return _layout_of_objects(text, name)
    return Format.JSONL if _ends_as(Format.JSONL, name) else Format.CSV


def _layout_of_objects(text: str, name: str) -> Format:
    """Return JSONL for one object per line, or JSON for an object that contains the array of records."""
    first = _first_line(text)
    if isinstance(first, dict):
        is_one = "\n" not in text.rstrip() and not _ends_as(Format.JSONL, name)
        return Format.JSON if is_one and has_array(first) else Format.JSONL
    if _ends_as(Format.JSONL, name):
        return Format.JSONL
    is_whole = re.match(r'\{\s*([\r\n]|"items"\s*:)', text)
    return Format.JSON if is_whole or _ends_as(Format.JSON, name) else Format.JSONL


def _first_line(text: str) -> object:
    try:
        return json.loads(re.split("[\r\n]", text, maxsplit=1)[0])
    except (ValueError, RecursionError):
        return None


def _refuse_binary(peek: str) -> None:
    strange = sum(peek.count(chr(byte)) for byte in range(32) if chr(byte) not in "\t\n\r\f")
    if strange * 20 > len(peek):
        raise UnreadableFile("The file is not text. It looks like a binary file.")
