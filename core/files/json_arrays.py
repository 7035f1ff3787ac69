"""Reads a JSON array of objects, alone or as `items` of an object, element by element and never as a whole."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import BinaryIO

from core.files.lines import BOM, MOST_BYTES, UnreadableFile
from core.files.records import Record, object_of, refuse_constant, too_long

_PART = 1 << 18
_NO_ARRAY = "The file holds no array of objects, alone or as “items”."
_DECODER = json.JSONDecoder(parse_constant=refuse_constant)
_GAP = re.compile(r"[\s,]*")
_NAME = re.compile(r'[\s,]*("(?:[^"\\]|\\.)*")\s*:\s*')
# Where reading goes on after an element that can't be read: at the object after the next comma.
_NEXT = re.compile(r"\}\s*,\s*(?=\{)")


def read_json_array(file: BinaryIO) -> Iterator[Record]:
    """A record for each element; its `line` is the position in the array, from 1. Raises UnreadableFile."""
    window = _Window(file)
    _find_array(window)
    number = 0
    while not window.is_at("]"):
        number += 1
        yield _read_element(window, number)
        window.skip(_GAP)


class _Window:
    """The part of the file that is in memory, as text; `at` is the position in it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._decode = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode
        self.text = self._decode(file.read(_PART).removeprefix(BOM))
        self.at = 0

    @property
    def rest(self) -> int:
        return len(self.text) - self.at

    def more(self) -> bool:
        """Read more, at least doubling what is there; False at the end of the file."""
        part = self._file.read(max(_PART, self.rest))
        self.text = self.text[self.at :] + self._decode(part, not part)
        self.at = 0
        return bool(part)

    def skip(self, pattern: re.Pattern[str]) -> None:
        """Skip everything that matches at this position, however long it is."""
        while (found := pattern.match(self.text, self.at)) is not None:
            self.at = found.end()
            if self.rest or not self.more():
                return

    def is_at(self, character: str) -> bool:
        """Whether this character is next, or the file ends."""
        return not self.rest or self.text[self.at] == character

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Match at this position. A match that ends with the part is repeated, because it may go on in the next."""
        while (found := pattern.match(self.text, self.at)) is None or found.end() == len(self.text):
            if self.rest > MOST_BYTES or not self.more():
                break
        return found

    def value(self) -> object:
        """Read the JSON value at this position. Raise ValueError or RecursionError, and leave `at` unchanged."""
        while True:
            try:
                value, end = _DECODER.raw_decode(self.text, self.at)
            except json.JSONDecodeError:
                if self.rest > MOST_BYTES or not self.more():
                    raise
            else:
                # The digits of a number may go on in the next part.
                if end == len(self.text) and self.rest <= MOST_BYTES and self.more():
                    continue
                self.at = end
                return value

    def leave(self) -> None:
        """Skip to the beginning of the next element, as far as it can be recognised."""
        while (found := _NEXT.search(self.text, self.at)) is None:
            self.at = max(self.at, len(self.text) - 1_000)
            if not self.more():
                self.at = len(self.text)
                return
        self.at = found.end()


def _find_array(window: _Window) -> None:
    """Skip to the first element. Raises UnreadableFile."""
    window.skip(_GAP)
    if window.rest and window.is_at("["):
        window.at += 1
    elif window.rest and window.is_at("{"):
        window.at += 1
        _find_items(window)
    else:
        raise UnreadableFile(_NO_ARRAY)
    window.skip(_GAP)


def _find_items(window: _Window) -> None:
    while name := window.match(_NAME):
        window.at = name.end()
        if name[1] == '"items"' and window.rest and window.is_at("["):
            window.at += 1
            return
        try:
            window.value()
        except (ValueError, RecursionError) as error:
            raise UnreadableFile(f"The file is no JSON: {str(error)[:200]}.") from error
    raise UnreadableFile(_NO_ARRAY)


def _read_element(window: _Window, number: int) -> Record:
    try:
        value = window.value()
    except RecursionError:
        problem = Record(number, problem="is nested too deeply")
    except ValueError as error:
        is_long = window.rest > MOST_BYTES
        reason = f"is no JSON: {str(error)[:200]}"
        problem = too_long(number) if is_long else Record(number, problem=reason)
    else:
        return object_of(value, line=number)
    window.leave()
    return problem
