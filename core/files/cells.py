"""Read and write table cells: text that no spreadsheet evaluates as a formula, and lists that users can type."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TypeGuard

_CALCULATES = re.compile(r"'*[=+\-@\t\r]")
_MARKED = re.compile(r"'+[=+\-@\t\r]")

# The text that pandas and Excel write for an empty cell. Other words, such as NA, may be names.
NO_VALUE = frozenset({"", "NaN", "nan", "-nan", "<NA>", "NaT", "#N/A"})


def safe_cell(text: str) -> str:
    """Return the text escaped so that no spreadsheet treats it as a formula. `plain_cell` is the exact inverse."""
    return f"'{text}" if _CALCULATES.match(text) else text


def plain_cell(text: str) -> str:
    """Return the original text of a cell written by `safe_cell`."""
    return text[1:] if _MARKED.match(text) else text


def write_words(words: Sequence[str]) -> str:
    """Return the words separated by commas, or as a JSON array if commas would be ambiguous."""
    plain = ", ".join(words)
    is_plain = bool(plain) and not plain.startswith("[") and read_words(plain) == list(words)
    return plain if is_plain else _json(list(words))


def read_words(cell: str) -> object:
    """Parse a cell written by `write_words`. Raises ValueError for invalid JSON."""
    if cell.startswith("["):
        return json.loads(cell)
    return [word.strip() for word in cell.split(",") if word.strip()]


def write_lines(items: Sequence[str | Mapping[str, object]]) -> str:
    """Return the items as lines. Return a JSON array if lines would be ambiguous or an item is not text."""
    if items and _all_texts(items):
        plain = "\n".join(items)
        if not plain.startswith("[") and read_lines(plain) == list(items):
            return plain
    return _json(list(items))


def read_lines(cell: str) -> object:
    """Parse a cell written by `write_lines`. Raises ValueError for invalid JSON."""
    if cell.startswith("["):
        return json.loads(cell)
    return [line.strip() for line in cell.split("\n") if line.strip()]


def write_flag(value: bool) -> str:
    """Return "yes" for True and "no" for False."""
    return "yes" if value else "no"


def read_flag(cell: str) -> object:
    """Return True for yes and False for no. Return other text unchanged, because later validation rejects it."""
    word = cell.strip().lower().removesuffix(".0")
    return {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}.get(
        word, cell
    )


def write_object(value: object) -> str:
    """Return the value as JSON."""
    return _json(value)


def read_object(cell: str) -> object:
    """Parse a cell written by `write_object`. Raises ValueError for invalid JSON."""
    return json.loads(cell)


def _all_texts(items: Sequence[str | Mapping[str, object]]) -> TypeGuard[Sequence[str]]:
    return all(isinstance(item, str) for item in items)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
