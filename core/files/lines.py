"""Read the text and lines of a file. The file, or even a single line, can be larger than memory."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from io import TextIOWrapper
from typing import BinaryIO, NamedTuple, TextIO

MOST_BYTES = 4_000_000  # the limit for a row, and for a file in a folder
_PART = 1 << 20
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # must come before UTF-16, whose mark is a prefix
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_HIGH = bytes(range(128, 256))
# A complete or damaged UTF-8 character. In Windows-1252 text, these byte sequences are rare.
_SEQUENCE = re.compile(rb"[\xc2-\xf4](?:[\x80-\xbf]+|\Z)")
# Undecodable bytes are replaced with this lone surrogate, which the validation of values rejects.
_NOT_TEXT = "\udc80"
_ERRORS = "core.files.lines"
codecs.register_error(_ERRORS, lambda error: (_NOT_TEXT * (error.end - error.start), error.end))  # type: ignore[attr-defined]


class UnreadableFile(ValueError):
    """The file is unreadable. The message contains the reason."""


class Line(NamedTuple):
    """A line with its number. `text` includes the line ending, and is None if the line is too long."""

    number: int
    text: str | None


def open_text(file: BinaryIO, *, is_table: bool = False) -> TextIOWrapper:
    """Open the file as text, from the start, with unchanged line endings. Detect UTF-8, UTF-16 and UTF-32.

    A table can also be in Windows-1252, another encoding that Excel writes.
    """
    file.seek(0)
    encoding = _find_encoding(file, is_table=is_table)
    file.seek(0)
    return TextIOWrapper(file, encoding=encoding, errors=_ERRORS, newline="")


def iterate_lines(file: TextIO) -> Iterator[Line]:
    """Yield each line. Lines end with a line feed, a carriage return or both."""
    number = 0
    while text := file.readline(MOST_BYTES + 1):
        number += 1
        if len(text) > MOST_BYTES:
            while not text.endswith(("\n", "\r")) and (text := file.readline(MOST_BYTES)):
                pass
            yield Line(number, None)
        else:
            yield Line(number, text)


def say_too_long() -> str:
    """Return the message for a line that is too long."""
    return f"has more than {MOST_BYTES:,} bytes"


def _find_encoding(file: BinaryIO, *, is_table: bool) -> str:
    part = file.read(_PART)
    for mark, encoding in _MARKS:
        if part.startswith(mark):
            return encoding
    half = len(part) // 2
    zeros = part[::2].count(0), part[1::2].count(0)
    if max(zeros) * 2 > half and min(zeros) * 20 < half:
        return "utf-16-le" if zeros[1] > zeros[0] else "utf-16-be"
    return _find_8_bit_encoding(file, part) if is_table else "utf-8"


def _find_8_bit_encoding(file: BinaryIO, part: bytes) -> str:
    """Return Windows-1252 if most non-ASCII characters are single bytes, or UTF-8 otherwise, even if damaged."""
    decode = codecs.getincrementaldecoder("utf-8")().decode
    try:
        while part:
            decode(part)
            part = file.read(_PART)
        return "utf-8"
    except UnicodeDecodeError:
        file.seek(0)
    sequences = singles = 0
    while part := file.read(_PART) + file.readline(_PART):
        rest, found = _SEQUENCE.subn(b"", part)
        sequences += found
        singles += len(rest) - len(rest.translate(None, _HIGH))
    return "cp1252" if singles > sequences else "utf-8"
