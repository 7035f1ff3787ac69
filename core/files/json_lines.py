"""Read JSONL files, which contain one object per line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from core.files.lines import iterate_lines, open_text
from core.files.records import Record, decode_object, too_long


def read_json_lines(file: BinaryIO) -> Iterator[Record]:
    """Yield a record for each nonblank line."""
    for number, line in iterate_lines(open_text(file)):
        if line is None:
            yield too_long(number)
        elif not line.isspace():
            yield decode_object(line, line=number)
