"""The catalogue as files: a folder for each entry, or a line of JSON for each.

Pure: reads and writes files, knows no database.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from catalog.files.folders import METADATA, SCRIPT, read_folders, write_folder
from catalog.files.jsonl import read_jsonl, write_jsonl
from catalog.files.records import EntryRecord, Row

__all__ = [
    "METADATA",
    "SCRIPT",
    "EntryRecord",
    "Row",
    "read_folders",
    "read_jsonl",
    "read_rows",
    "write_folder",
    "write_jsonl",
]


def read_rows(source: Path) -> Iterator[Row]:
    """The rows of a folder or of a JSONL file. Raises OSError."""
    return read_folders(source) if source.is_dir() else read_jsonl(source)
