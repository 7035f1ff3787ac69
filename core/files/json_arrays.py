"""Read a JSON array of objects, either at the top level or inside an object, one element at a time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import BinaryIO

from core.files.lines import MOST_BYTES, UnreadableFile, open_text
from core.files.records import DECODER, Record, object_of, too_long

_PART = 1 << 18
# Names under which the exports of other tools store their records, such as promptfoo's `results.results`.
_ARRAYS = ("items", "results", "data", "examples", "rows", "records", "runs", "tasks")
_NO_ARRAY = (
    "The file has no array of objects, either at the top level or under one of the names "
    f"{', '.join(_ARRAYS)}."
)
_GAP = re.compile(r"[\s,]*")
_NAME = re.compile(r'[\s,]*("(?:[^"\\]|\\.)*")\s*:\s*')
# After an unreadable element, reading continues at the object after the next comma.
_NEXT = re.compile(r"\}\s*,\s*(?=\{)")


def read_json_array(file: BinaryIO) -> Iterator[Record]:
    """Yield a record for each element. `line` is the element's position, starting at 1. Raises UnreadableFile."""
    window = _Window(file)
    depth = _find_array(window)
    number = 0
    while window.rest and not window.is_at("]"):
        number += 1
        yield _read_element(window, number)
        window.skip(_GAP)
    if not window.rest:
        yield Record(number + 1, problem="is cut off: the file ends before the array does")
    elif not depth:
        window.at += 1
        window.skip(_GAP)
        if window.rest:
            yield Record(number + 1, problem="has text after the end of the array")


def has_array(value: object) -> bool:
    """Return whether `read_json_array` finds an array in this JSON value."""
    if not isinstance(value, dict):
        return isinstance(value, list)
    return any(has_array(value[name]) for name in _ARRAYS if name in value)


class _Window:
    """The part of the file that is in memory. `at` is the current position in `text`."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = open_text(file)
        self.text = self._file.read(_PART)
        self.at = 0

    @property
    def rest(self) -> int:
        return len(self.text) - self.at

    def more(self) -> bool:
        """Read more of the file, at least doubling the rest of the text. Return False at the end of the file."""
        part = self._file.read(max(_PART, self.rest))
        self.text = self.text[self.at :] + part
        self.at = 0
        return bool(part)

    def skip(self, pattern: re.Pattern[str]) -> None:
        """Skip all text that matches at the current position, even beyond the part in memory."""
        while (found := pattern.match(self.text, self.at)) is not None:
            self.at = found.end()
            if self.rest or not self.more():
                return

    def is_at(self, character: str) -> bool:
        """Return whether the next character is `character`. At the end of the file, return True."""
        return not self.rest or self.text[self.at] == character

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Match the pattern at the current position. If the match reaches the end of the part, read more and retry."""
        while (found := pattern.match(self.text, self.at)) is None or found.end() == len(self.text):
            if self.rest > MOST_BYTES or not self.more():
                break
        return found

    def value(self) -> object:
        """Read the JSON value at the current position. Raises ValueError or RecursionError, without changing `at`."""
        while True:
            try:
                value, end = DECODER.raw_decode(self.text, self.at)
            except json.JSONDecodeError:
                if self.rest > MOST_BYTES or not self.more():
                    raise
            else:
                # A number may continue in the next part.
                if end == len(self.text) and self.rest <= MOST_BYTES and self.more():
                    continue
                self.at = end
                return value

    def leave(self) -> None:
        """Skip to the probable start of the next element."""
        while (found := _NEXT.search(self.text, self.at)) is None:
            self.at = max(self.at, len(self.text) - 1_000)
            if not self.more():
                self.at = len(self.text)
                return
        self.at = found.end()


def _find_array(window: _Window) -> int:
    """Skip to the first element, and return the number of objects that enclose the array. Raises UnreadableFile."""
    depth, passed = 0, list[str]()
    window.skip(_GAP)
    while window.rest and window.is_at("{"):
        window.at += 1
        depth += 1
        passed += _find_name(window)
    if not (window.rest and window.is_at("[")):
        paths = ", ".join(path for path in passed[:10] if path.isprintable())
        found = f" It has arrays at {paths}. Save one of them as a separate file." if paths else ""
        raise UnreadableFile(_NO_ARRAY + found)
    window.at += 1
    window.skip(_GAP)
    return depth


def _find_name(window: _Window) -> list[str]:
    """Skip to the value of the next name in _ARRAYS, and return the paths of the skipped arrays."""
    passed = []
    while name := window.match(_NAME):
        window.at = name.end()
        try:
            key = json.loads(name[1])
            if key in _ARRAYS and window.rest and (window.is_at("[") or window.is_at("{")):
                break
            passed += _arrays_in(window.value(), key)
        except (ValueError, RecursionError) as error:
            raise UnreadableFile(f"The file is not valid JSON: {str(error)[:200]}.") from error
    return passed


def _arrays_in(value: object, path: str) -> list[str]:
    """Return the paths of the arrays of objects in a value."""
    if isinstance(value, list):
        return [path] if any(isinstance(one, dict) for one in value) else []
    inner = value.items() if isinstance(value, dict) and path.count(".") < 10 else ()
    return [found for name, one in inner for found in _arrays_in(one, f"{path}.{name}")]


def _read_element(window: _Window, number: int) -> Record:
    try:
        value = window.value()
    except RecursionError:
        problem = Record(number, problem="is nested too deeply")
    except ValueError as error:
        is_long = window.rest > MOST_BYTES
        reason = f"is not valid JSON: {str(error)[:200]}"
        problem = too_long(number) if is_long else Record(number, problem=reason)
    else:
        return object_of(value, line=number)
    window.leave()
    return problem
