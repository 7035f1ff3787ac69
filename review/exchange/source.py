"""Opens a file of records: which format it has, and how far it has been read.

The formats that are read stand in one table, `_FORMATS`; forms and commands take their words from it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from enum import StrEnum
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, NamedTuple

from core.files.cells import plain_cell
from core.files.json_arrays import read_json_array
from core.files.json_lines import read_json_lines
from core.files.lines import BOM, UnreadableFile
from core.files.records import Record
from core.files.tables import Table
from core.translation import gettext_noop as _


class Format(StrEnum):
    """How a file is laid out. The last two are JSON or JSONL with names of columns of their own.

    CSV stands for every table: what separates its columns (comma, semicolon, tab or |) is told by its header.
    """

    JSONL = "jsonl"
    CSV = "csv"
    JSON = "json"
    INTERCODE = "intercode"
    EABENCH = "nl2bash-eabench"


# The column by which our own exports are known: only their cells carry the mark of `safe_cell`.
OWN = "record"
_PEEK = 1 << 16
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def _read_table(file: BinaryIO) -> Iterator[Record]:
    """A record for each row; an empty cell is no value."""
    table = Table(file, exact=False)
    is_own = OWN in table.columns
    for line, cells, problem in table:
        pairs = zip(table.columns, cells, strict=False)
        values = {name: plain_cell(cell) if is_own else cell for name, cell in pairs if cell}
        yield Record(line, problem=problem) if problem else Record(line, dict(values))


class _Known(NamedTuple):
    """A format that can be read. `endings` are those of file names, in lower case."""

    title: str
    endings: tuple[str, ...]
    read: Callable[[BinaryIO], Iterator[Record]]
    # A file with this ending has this format, whatever it begins with.
    is_told_by_name: bool = False
    unit: str = _("line")  # what the numbers of records count


_FORMATS: dict[Format, _Known] = {
    Format.JSONL: _Known("JSONL", (".jsonl", ".ndjson"), read_json_lines),
    Format.CSV: _Known("CSV, TSV", (".csv", ".tsv"), _read_table, is_told_by_name=True),
    Format.JSON: _Known("JSON", (".json",), read_json_array, unit=_("element")),
}
FORMAT_TITLES = ", ".join(known.title for known in _FORMATS.values())


def format_by_name(name: str) -> Format | None:
    """The format that a file's name decides; None where the file has to be looked at."""
    for format, known in _FORMATS.items():
        if known.is_told_by_name and _ends_as(format, name):
            return format
    return None


def unit_of(format: str) -> str:
    """What the numbers of a file's records count, in a word to be translated."""
    known = _FORMATS.get(Format(format)) if format else None
    return known.unit if known else _FORMATS[Format.JSONL].unit


def _ends_as(format: Format, name: str) -> bool:
    return name.lower().endswith(_FORMATS[format].endings)


class Source:
    """The records of one file, to be gone through once.

    Raises OSError, and UnreadableFile for what holds no text or is laid out as nothing we know.
    """

    def __init__(self, path: Path, *, format: str = "") -> None:
        self._file: BufferedReader = path.open("rb")
        try:
            peek = self._file.read(_PEEK)
            _refuse_binary(peek)
            self.layout = _layout(peek, path.name, Format(format) if format else None)
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
        """The first record, read by itself: the others can still be gone through."""
        with self._path.open("rb") as file:
            return next(_FORMATS[self.layout].read(file), None)

    def close(self) -> None:
        """For who only wanted to know the layout."""
        self._file.close()

    @property
    def unit(self) -> str:
        """What the numbers of records count."""
        return _FORMATS[self.layout].unit

    @property
    def position(self) -> int:
        """Bytes read so far."""
        return self.size if self._file.closed else self._file.tell()


def _layout(peek: bytes, name: str, wanted: Format | None) -> Format:
    if wanted in _FORMATS:
        return wanted
    text = peek.removeprefix(BOM).lstrip()
    if not text:
        raise UnreadableFile("The file is empty.")
    if wanted is None and (named := format_by_name(name)):
        return named
    if text.startswith(b"["):
        is_line = _ends_as(Format.JSONL, name) and isinstance(_first_line(text), list)
        return Format.JSONL if is_line else Format.JSON
    if text.startswith(b"{"):
        return _layout_of_objects(text, name)
    return Format.JSONL if _ends_as(Format.JSONL, name) else Format.CSV


def _layout_of_objects(text: bytes, name: str) -> Format:
    """An object a line, or one object over many lines with the array inside."""
    first = _first_line(text)
    if isinstance(first, dict):
        return Format.JSON if isinstance(first.get("items"), list) else Format.JSONL
    if _ends_as(Format.JSONL, name):
        return Format.JSONL
    is_whole = re.match(rb'\{\s*(\n|"items"\s*:)', text)
    return Format.JSON if is_whole or _ends_as(Format.JSON, name) else Format.JSONL


def _first_line(text: bytes) -> object:
    try:
        return json.loads(text.partition(b"\n")[0].decode())
    except (ValueError, RecursionError):
        return None


def _refuse_binary(peek: bytes) -> None:
    if peek.startswith(_UTF_16):
        raise UnreadableFile("The file is UTF-16: save it as UTF-8.")
    strange = sum(peek.count(byte) for byte in range(32) if byte not in b"\t\n\r\f")
    if strange * 20 > len(peek):
        raise UnreadableFile("The file is no text: it looks like a binary file.")
