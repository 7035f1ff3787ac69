"""The file formats of the catalogue: JSONL, CSV, a folder for each entry, and a .zip of such folders.

This package only reads and writes files and does not use the database.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO, NamedTuple

from catalog.exchange.formats.archives import archive_parts, read_archive
from catalog.exchange.formats.folders import (
    METADATA,
    SCRIPT,
    DiskFolder,
    files_of,
    read_folders,
    write_folder,
)
from catalog.exchange.formats.jsonl import jsonl_line, read_jsonl
from catalog.exchange.formats.records import EntryRecord, OtherVersion, Row, Wording, read_record
from catalog.exchange.formats.tables import COLUMNS, cells_of, read_table
from core.files.lines import UnreadableFile

__all__ = [
    "COLUMNS",
    "CONTENT_TYPES",
    "ENDINGS",
    "METADATA",
    "SCRIPT",
    "EntryRecord",
    "Format",
    "OtherVersion",
    "Row",
    "UnreadableFile",
    "Wording",
    "file_parts",
    "files_of",
    "format_of",
    "read_file",
    "read_folders",
    "read_record",
    "read_rows",
    "write_folder",
]


class Format(StrEnum):
    """The formats of single files. Folders of entries are also supported but are not files."""

    JSONL = "jsonl"
    CSV = "csv"
    ZIP = "zip"


class _Known(NamedTuple):
    """A supported format. `endings` contains the file name extensions in lower case."""

    endings: tuple[str, ...]
    content_type: str
    read: Callable[[BinaryIO], Iterator[Row]]


# The CSV reader also reads TSV, because it detects the separator in the header.
_FORMATS = {
    Format.JSONL: _Known((".jsonl", ".ndjson"), "application/x-ndjson", read_jsonl),
    Format.CSV: _Known((".csv", ".tsv"), "text/csv; charset=utf-8", read_table),
    Format.ZIP: _Known((".zip",), "application/zip", read_archive),
}
CONTENT_TYPES = {format: known.content_type for format, known in _FORMATS.items()}
ENDINGS = tuple(ending for known in _FORMATS.values() for ending in known.endings)


def format_of(name: str) -> Format | None:
    """Return the format for a file name's extension, or None if the extension is unknown."""
    ending = Path(name).suffix.lower()
    return next((one for one, known in _FORMATS.items() if ending in known.endings), None)


def read_rows(source: Path) -> Iterator[Row]:
    """Yield the rows of a folder or file. The file's extension determines the format. Raises OSError and
    UnreadableFile.
    """
    if source.is_dir():
        yield from read_folders(DiskFolder(source))
        return
    format = format_of(source.name)
    if format is None:
        raise UnreadableFile(f"The file name must end in one of {', '.join(ENDINGS)}.")
    with source.open("rb") as file:
        yield from read_file(file, format)


def read_file(file: BinaryIO, format: Format) -> Iterator[Row]:
    """Yield the rows of an open file. Raises UnreadableFile."""
    yield from _FORMATS[format].read(file)


def file_parts(records: Iterable[EntryRecord], format: Format) -> Iterator[bytes]:
    """Yield the bytes of a file with these records in parts, so that memory use does not grow with the number of
    records.
    """
    if format is Format.ZIP:
        yield from archive_parts(records)
    elif format is Format.CSV:
        yield from _table_parts(records)
    else:
        for record in records:
            yield jsonl_line(record).encode()


def _table_parts(records: Iterable[EntryRecord]) -> Iterator[bytes]:
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(COLUMNS)
    for record in records:
        writer.writerow(cells_of(record))
        yield buffer.getvalue().encode()
        buffer.seek(0)
        buffer.truncate()
    yield buffer.getvalue().encode()
