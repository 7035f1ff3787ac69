"""Cells of a table: texts that no spreadsheet calculates with, and lists as a person would type them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TypeGuard

_CALCULATES = re.compile(r"'*[=+\-@\t\r]")
_MARKED = re.compile(r"'+[=+\-@\t\r]")


def safe_cell(text: str) -> str:
    """The text so that no spreadsheet takes it for a formula; `plain_cell` gives exactly it back."""
    return f"'{text}" if _CALCULATES.match(text) else text


def plain_cell(text: str) -> str:
    """What `safe_cell` was given."""
    return text[1:] if _MARKED.match(text) else text


def write_words(words: Sequence[str]) -> str:
    """The words with commas between them, or as JSON where that could be read in another way."""
    plain = ", ".join(words)
    is_plain = bool(plain) and not plain.startswith("[") and read_words(plain) == list(words)
    return plain if is_plain else _json(list(words))


def read_words(cell: str) -> object:
    """What `write_words` was given. Raises ValueError for what begins like JSON and is none."""
    if cell.startswith("["):
        return json.loads(cell)
    return [word.strip() for word in cell.split(",") if word.strip()]


def write_lines(items: Sequence[str | Mapping[str, object]]) -> str:
    """The texts, one a line, or as JSON where that could be read in another way."""
    if items and _all_texts(items):
        plain = "\n".join(items)
        if not plain.startswith("[") and read_lines(plain) == list(items):
            return plain
    return _json(list(items))


def read_lines(cell: str) -> object:
    """What `write_lines` was given. Raises ValueError for what begins like JSON and is none."""
    if cell.startswith("["):
        return json.loads(cell)
    return [line.strip() for line in cell.split("\n") if line.strip()]


def write_flag(value: bool) -> str:
    """Yes or no."""
    return "yes" if value else "no"


def read_flag(cell: str) -> object:
    """Whether the cell says yes; anything else than yes and no is left for the record to refuse."""
    return {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}.get(
        cell.strip().lower(), cell
    )


def write_object(value: object) -> str:
    """Anything else, as JSON."""
    return _json(value)


def read_object(cell: str) -> object:
    """What `write_object` was given. Raises ValueError."""
    return json.loads(cell)


def _all_texts(items: Sequence[str | Mapping[str, object]]) -> TypeGuard[Sequence[str]]:
    return all(isinstance(item, str) for item in items)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
