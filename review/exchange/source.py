"""Opens a file of records: which format it has, and how far it has been read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from enum import StrEnum
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

from core.files.cells import plain_cell
from core.files.json_arrays import read_json_array
from core.files.json_lines import read_json_lines
from core.files.lines import BOM, UnreadableFile
from core.files.records import Record
from core.files.tables import Table


class Format(StrEnum):
    """How a file is laid out. The last two are JSON or JSONL with names of columns of their own."""

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


_READERS: dict[Format, Callable[[BinaryIO], Iterator[Record]]] = {
    Format.JSONL: read_json_lines,
    Format.CSV: _read_table,
    Format.JSON: read_json_array,
}


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
            yield from _READERS[self.layout](self._file)

    def first(self) -> Record | None:
        """The first record, read by itself: the others can still be gone through."""
        with self._path.open("rb") as file:
            return next(_READERS[self.layout](file), None)

    def close(self) -> None:
        """For who only wanted to know the layout."""
        self._file.close()

    @property
    def unit(self) -> str:
        """What the numbers of records count."""
        return "element" if self.layout is Format.JSON else "line"

    @property
    def position(self) -> int:
        """Bytes read so far."""
        return self.size if self._file.closed else self._file.tell()


def _layout(peek: bytes, name: str, wanted: Format | None) -> Format:
    if wanted in _READERS:
        return wanted
    text = peek.removeprefix(BOM).lstrip()
    if not text:
        raise UnreadableFile("The file is empty.")
    ending = name.lower().rpartition(".")[2]
    if wanted is None and ending in ("csv", "tsv"):
        return Format.CSV
    if text.startswith(b"["):
        is_line = ending in ("jsonl", "ndjson") and isinstance(_first_line(text), list)
        return Format.JSONL if is_line else Format.JSON
    if text.startswith(b"{"):
        return _layout_of_objects(text, ending)
    return Format.JSONL if ending in ("jsonl", "ndjson") else Format.CSV


def _layout_of_objects(text: bytes, ending: str) -> Format:
    """An object a line, or one object over many lines with the array inside."""
    first = _first_line(text)
    if isinstance(first, dict):
        return Format.JSON if isinstance(first.get("items"), list) else Format.JSONL
    if ending in ("jsonl", "ndjson"):
        return Format.JSONL
    is_whole = re.match(rb'\{\s*(\n|"items"\s*:)', text)
    return Format.JSON if is_whole or ending == "json" else Format.JSONL


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
