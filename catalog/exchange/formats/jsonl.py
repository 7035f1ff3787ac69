"""The JSONL format: one line for each entry. Files are read line by line, so they can be larger than memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import BinaryIO

from catalog.exchange.formats.records import EntryRecord, Row, read_record
from core.files.json_lines import read_json_lines


def read_jsonl(file: BinaryIO) -> Iterator[Row]:
    """Yield a row for each nonblank line. Raises UnreadableFile."""
    for found in read_json_lines(file):
        place = f"line {found.line}"
        if found.problem:
            yield Row(place=place, problem=found.problem)
        else:
            yield read_record(found.values, place=place)


def jsonl_line(record: EntryRecord) -> str:
    """Return the record as a JSON line, including the line ending."""
    return json.dumps(record.plain(), ensure_ascii=False) + "\n"
