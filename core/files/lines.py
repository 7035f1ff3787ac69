"""The lines of a file that may be larger than memory, and even have single lines that are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

MOST_BYTES = 4_000_000  # of one row, and of one file of a folder
BOM = b"\xef\xbb\xbf"
_OTHER_ENCODINGS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


class UnreadableFile(ValueError):
    """Nothing in the file can be read; the text says why."""


class Line(NamedTuple):
    """A line with its line end, or None if it is too long."""

    number: int
    data: bytes | None


def iterate_lines(file: BinaryIO) -> Iterator[Line]:
    """Each line from the start, without a byte order mark. Raises UnreadableFile."""
    number = 0
    while data := file.readline(MOST_BYTES + 1):
        number += 1
        if number == 1:
            data = _without_mark(data)
        if len(data) > MOST_BYTES:
            while not data.endswith(b"\n") and (data := file.readline(MOST_BYTES)):
                pass
            yield Line(number, None)
        else:
            yield Line(number, data)


def say_too_long() -> str:
    """The message for a line that is too long."""
    return f"has more than {MOST_BYTES:,} bytes"


def _without_mark(data: bytes) -> bytes:
    for mark, name in _OTHER_ENCODINGS.items():
        if data.startswith(mark):
            raise UnreadableFile(f"The file is {name}; save it as UTF-8.")
    return data.removeprefix(BOM)
