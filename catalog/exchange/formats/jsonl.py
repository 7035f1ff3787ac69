"""A line of JSON for each entry, read one by one, so that a file may be larger than memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import BinaryIO

from catalog.exchange.formats.records import EntryRecord, Row, read_record
from core.files.lines import iterate_lines, say_too_long


def read_jsonl(file: BinaryIO) -> Iterator[Row]:
    """A row for each line that is not blank. Raises UnreadableFile."""
    for number, line in iterate_lines(file):
        place = f"line {number}"
        if line is None:
            yield Row(place=place, problem=say_too_long())
        elif line.strip():
            yield _read_line(line, place=place)


def jsonl_line(record: EntryRecord) -> str:
    """The record as a line with its end."""
    return json.dumps(record.plain(), ensure_ascii=False) + "\n"


def _read_line(line: bytes, *, place: str) -> Row:
    try:
        return read_record(json.loads(line.decode()), place=place)
    except UnicodeDecodeError as error:
        return Row(place=place, problem=f"is not UTF-8 at byte {error.start + 1}")
    except RecursionError:
        return Row(place=place, problem="is nested too deeply")
    except json.JSONDecodeError as error:
        return Row(place=place, problem=f"is no JSON at character {error.colno}: {error.msg}")
    except ValueError as error:
        return Row(place=place, problem=f"is no JSON: {str(error)[:200]}")
