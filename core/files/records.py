"""What every format of file comes down to: records with the line where they stand, one after the other.

A file may be larger than memory, and so may one of its lines: neither is ever read whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, NoReturn

MOST_BYTES = 4_000_000  # of one record
BOM = b"\xef\xbb\xbf"
_PART = 1 << 20


class UnreadableFile(ValueError):
    """Nothing in the file can be read; the text says why."""


@dataclass(frozen=True, slots=True)
class Record:
    """What a file holds at one place: names with values, or what is wrong with it."""

    line: int
    values: dict[str, object] = field(default_factory=dict)
    problem: str = ""


class Lines:
    """The lines of a file from its beginning, each at most MOST_BYTES long; longer ones are passed over."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.number = 0

    def __iter__(self) -> Iterator[bytes | None]:
        """Each line with its end, without the mark of UTF-8 at the first; None for one that is too long."""
        while line := self._file.readline(MOST_BYTES + 1):
            self.number += 1
            if len(line) > MOST_BYTES:
                while not line.endswith(b"\n") and (line := self._file.readline(_PART)):
                    pass
                yield None
            else:
                yield line.removeprefix(BOM) if self.number == 1 else line


def decode_object(data: bytes, *, line: int) -> Record:
    """The record of one JSON object."""
    try:
        value = _DECODER.decode(data.decode())
    except UnicodeDecodeError as error:
        return Record(line, problem=f"is not UTF-8 at byte {error.start + 1}")
    except RecursionError:
        return Record(line, problem="is nested too deeply")
    except ValueError as error:
        return Record(line, problem=f"is no JSON: {str(error)[:200]}")
    return object_of(value, line=line)


def object_of(value: object, *, line: int) -> Record:
    """The record of a JSON value."""
    if not isinstance(value, dict):
        return Record(line, problem="is no object with names and values")
    return Record(line, value)


def too_long(line: int) -> Record:
    """The record of what is longer than is taken."""
    return Record(line, problem=f"has more than {MOST_BYTES:,} bytes")


def refuse_constant(name: str) -> NoReturn:
    """For decoders: NaN and infinity are no JSON, whatever Python writes."""
    raise ValueError(f"{name} is no value of JSON")


_DECODER = json.JSONDecoder(parse_constant=refuse_constant)
