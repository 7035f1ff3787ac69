"""The common representation for all file formats: records with line numbers."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from core.files.lines import say_too_long


@dataclass(frozen=True, slots=True)
class Record:
    """A record of a file: the values by name, or the problem with the record."""

    line: int
    values: dict[str, object] = field(default_factory=dict)
    problem: str = ""


def decode_object(text: str, *, line: int) -> Record:
    """Return the record for the text of a JSON object."""
    try:
        if not text.isascii():
            text.encode()
        value = DECODER.decode(text)
    except UnicodeEncodeError as error:
        at = len(text[: error.start].encode()) + 1
        return Record(line, problem=f"is not valid UTF-8 at byte {at}")
    except RecursionError:
        return Record(line, problem="is nested too deeply")
    except json.JSONDecodeError as error:
        return Record(line, problem=f"is not valid JSON at character {error.colno}: {error.msg}")
    except ValueError as error:
        return Record(line, problem=f"is not valid JSON: {str(error)[:200]}")
    return object_of(value, line=line)


def object_of(value: object, *, line: int) -> Record:
    """Return the record for a decoded JSON value."""
    if not isinstance(value, dict):
        return Record(line, problem="is not a JSON object")
    return Record(line, value)


def too_long(line: int) -> Record:
    """Return the record for a line that is too long."""
    return Record(line, problem=say_too_long())


def _read_constant(name: str) -> None:
    """Return None for NaN, which pandas writes for an empty cell. Raises ValueError for infinity."""
    if name != "NaN":
        raise ValueError(f"{name} is not a JSON value")


DECODER = json.JSONDecoder(parse_constant=_read_constant)
