"""A line of JSON for each entry, read one by one, so that a file may be larger than memory."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

from catalog.files.records import EntryRecord, Row, read_record

MOST_BYTES = 4_000_000  # of one line


def read_jsonl(path: Path) -> Iterator[Row]:
    """A row for each line that is not blank. Raises OSError."""
    with path.open("rb") as file:
        number = 0
        while line := file.readline(MOST_BYTES + 1):
            number += 1
            place = f"line {number}"
            if len(line) > MOST_BYTES:
                yield Row(place=place, problem=f"has more than {MOST_BYTES:,} bytes")
                while not line.endswith(b"\n") and (line := file.readline(MOST_BYTES)):
                    pass
            elif line.strip():
                yield _read_line(line, place=place)


def write_jsonl(file: TextIO, records: Iterable[EntryRecord]) -> int:
    """Write a line for each record; how many."""
    count = 0
    for record in records:
        data = record.model_dump(mode="json", exclude_none=True)
        file.write(json.dumps(data, ensure_ascii=False) + "\n")
        count += 1
    return count


def _read_line(line: bytes, *, place: str) -> Row:
    try:
        return read_record(json.loads(line.decode("utf-8-sig")), place=place)
    except UnicodeDecodeError as error:
        return Row(place=place, problem=f"is not UTF-8 at byte {error.start + 1}")
    except (ValueError, RecursionError) as error:
        return Row(place=place, problem=f"is no JSON: {str(error)[:200]}")
