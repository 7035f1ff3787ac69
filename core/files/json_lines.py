"""JSONL: an object a line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from core.files.records import Lines, Record, decode_object, too_long


def read_lines(file: BinaryIO) -> Iterator[Record]:
    """A record for each line that is not blank."""
    lines = Lines(file)
    for line in lines:
        if line is None:
            yield too_long(lines.number)
        elif not line.isspace():
            yield decode_object(line, line=lines.number)
