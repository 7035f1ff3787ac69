"""The common form of all file formats: records with their line numbers.

A file may be larger than memory, and so may one of its lines: neither is ever read as a whole.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import NoReturn

from core.files.lines import say_too_long


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a file: names with values, or the problem with it."""

    line: int
    values: dict[str, object] = field(default_factory=dict)
    problem: str = ""


def decode_object(data: bytes, *, line: int) -> Record:
    """The record of a JSON object."""
    try:
        value = _DECODER.decode(data.decode())
    except UnicodeDecodeError as error:
        return Record(line, problem=f"is not UTF-8 at byte {error.start + 1}")
    except RecursionError:
        return Record(line, problem="is nested too deeply")
    except json.JSONDecodeError as error:
        return Record(line, problem=f"is no JSON at character {error.colno}: {error.msg}")
    except ValueError as error:
        return Record(line, problem=f"is no JSON: {str(error)[:200]}")
    return object_of(value, line=line)


def object_of(value: object, *, line: int) -> Record:
    """The record of a JSON value."""
    if not isinstance(value, dict):
        return Record(line, problem="is not an object with names and values")
    return Record(line, value)


def too_long(line: int) -> Record:
    """The record of a line that is too long."""
    return Record(line, problem=say_too_long())


def refuse_constant(name: str) -> NoReturn:
    """For decoders: NaN and infinity are not JSON, although Python writes them."""
    raise ValueError(f"{name} is no value of JSON")


_DECODER = json.JSONDecoder(parse_constant=refuse_constant)
