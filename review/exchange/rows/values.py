"""Parse and validate single values of a row. Errors name the column and the accepted values."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection
from datetime import UTC, datetime

from review.exchange.rows.columns import STAGES, say_paths
from review.exchange.source import OWN

MOST_WHY = 4_000
SCORES = {"0": 0, "1": 1, "2": 2}
_YES_OR_NO = {"true": True, "false": False, "1": True, "0": False, "yes": True, "no": False}
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
# Whole numbers as written by pandas and Excel in a column with empty cells.
_WHOLE = re.compile(r"(\d+)[.,]0*")
# Representations of an empty cell in columns without free text.
_EMPTY = frozenset({"", "nan", "-nan", "<na>", "nat", "#n/a", "na", "n/a", "none", "null"})


class RowProblem(ValueError):
    """The reason why a row is rejected, and the column that caused the error."""

    def __init__(self, reason: str, *, column: str = "") -> None:
        super().__init__(reason)
        self.column = column


def lack_of(values: dict[str, object], column: str) -> RowProblem:
    """Return the error for a row without this column. For a nested record, its message suggests paths to map."""
    return RowProblem(f"no {column} found{say_paths(values, column)}", column=column)


def text_of(values: dict[str, object], column: str, *, most: int) -> str:
    """Return the text unchanged, or an empty string if it is missing. Raises RowProblem."""
    value = values.get(column)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise RowProblem(f"must be text, not {_kind(value)}", column=column)
    if len(value) > most:
        raise RowProblem(f"has {len(value):,} characters; the maximum is {most:,}", column=column)
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise RowProblem("is not valid UTF-8", column=column) from None
    if "\0" in value:
        raise RowProblem("contains a NUL byte", column=column)
    return value


def name_of(values: dict[str, object], column: str, *, most: int) -> str:
    """Return a one-line name in Unicode form NFC. Whole numbers are converted to text. Raises RowProblem."""
    value = values.get(column)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**most:
        return str(value)
    name = text_of(values, column, most=most).strip()
    if not name.isascii():
        name = text_of({column: unicodedata.normalize("NFC", name)}, column, most=most)
    if not name.isprintable() and _CONTROL.search(name):
        raise RowProblem("contains an invisible character", column=column)
    return name


def key_of(values: dict[str, object], column: str, *, most: int) -> str:
    """Return an ID or a reviewer's name like `name_of`, but convert `12.0` to `12`. Raises RowProblem."""
    name = name_of(values, column, most=most)
    whole = _WHOLE.fullmatch(name) if name[:1].isdecimal() else None
    return whole[1] if whole and OWN not in values else name


def choice_of(values: dict[str, object], column: str, among: Collection[str]) -> str:
    """Return one of the words in `among`, or an empty string for an empty cell. Raises RowProblem."""
    value = values.get(column)
    word = value.strip().lower() if isinstance(value, str) else value
    if word is None or (word not in among and word in _EMPTY):
        return ""
    if not isinstance(word, str) or word not in among:
        raise RowProblem(f"{_show(value)} is not one of {', '.join(among)}", column=column)
    return word


def score_of(values: dict[str, object], column: str) -> int | None:
    """Return 0, 1 or 2 (also for values such as 2.0), or None if the stage was not scored. Raises RowProblem."""
    value = values.get(column)
    if value is None:
        return None
    if type(value) in (int, float) and value in (0, 1, 2):
        return int(value)
    text = value.strip() if isinstance(value, str) else "?"
    if text not in SCORES and (whole := _WHOLE.fullmatch(text)):
        text = whole[1]
    if text in SCORES:
        return SCORES[text]
    if text.lower() not in _EMPTY:
        raise RowProblem(f"{_show(value)} is not a score (0, 1, 2 or empty)", column=column)
    return None


def share_of(values: dict[str, object], column: str) -> float | None:
    """Return a number from 0 to 1, or None if the value is empty. True is 1 and false is 0. Raises RowProblem."""
    value = values.get(column)
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, str):
        value = _YES_OR_NO.get(value.strip().lower(), value)
    return amount_of({column: value}, column, most=1)


def amount_of(values: dict[str, object], column: str, *, most: float) -> float | None:
    """Return the value as a non-negative number, or None if it is empty. Raises RowProblem."""
    value = values.get(column)
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    try:
        number = float(value) if isinstance(value, (str, int, float)) else -1.0
    except (ValueError, OverflowError):
        number = -1.0
    if not 0 <= number <= most:
        raise RowProblem(f"{_show(value)} is not a number from 0 to {most:,.0f}", column=column)
    return number


def count_of(values: dict[str, object], column: str, *, least: int, most: int) -> int | None:
    """Return the value as an integer within bounds, or None if it is empty. Raises RowProblem."""
    value = values.get(column)
    if isinstance(value, str):
        text = value.strip()
        if text.lower() in _EMPTY:
            return None
        whole = _WHOLE.fullmatch(text)
        text = whole[1] if whole else text
        value = int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else value
    elif isinstance(value, float) and value.is_integer():
        value = int(value)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise RowProblem(f"{_show(value)} is not a number from {least} to {most:,}", column=column)
    return value


def flag_of(values: dict[str, object], column: str, *, default: bool) -> bool:
    """Return the value as a Boolean. Raises RowProblem."""
    value = values.get(column)
    if isinstance(value, bool):
        return value
    if value is None or value == "":
        return default
    text = str(value).strip().lower()
    if text in _EMPTY:
        return default
    word = _YES_OR_NO.get(text.removesuffix(".0"))
    if word is None:
        raise RowProblem(f"{_show(value)} is neither true nor false", column=column)
    return word


def moment_of(values: dict[str, object], column: str) -> datetime | None:
    """Return the parsed ISO 8601 time, or None if the value is empty.

    The default time zone is UTC. Raises RowProblem.
    """
    text = text_of(values, column, most=60).strip()
    if not text or text.lower() in _EMPTY:
        return None
    try:
        moment = datetime.fromisoformat(text)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise RowProblem(
            f"{_show(text)} is not a time such as 2026-01-31T12:00:00+00:00", column=column
        ) from None


def objects_of(values: dict[str, object], column: str, *, most: int) -> list[dict[str, object]]:
    """Return a list of objects, or an empty list if the value is missing. Raises RowProblem.

    Tables contain the list as JSON text.
    """
    found = _json_of(values, column)
    if found is None or found == "":
        return []
    if not isinstance(found, list) or len(found) > most:
        raise RowProblem(f"is not a list of at most {most} objects", column=column)
    if not all(isinstance(one, dict) for one in found):
        raise RowProblem("is not a list of objects", column=column)
    return found


def parts_of(values: dict[str, object], column: str) -> dict[str, object]:
    """Return an object, or an empty object if the value is missing. Raises RowProblem.

    Tables contain the object as JSON text.
    """
    found = _json_of(values, column)
    if found is None or found == "":
        return {}
    if not isinstance(found, dict):
        raise RowProblem("is not an object", column=column)
    return found


def answers_of(values: dict[str, object], column: str) -> dict[str, object]:
    """Return the correct scores by stage and the reason, such as {"script": 2, "why": "..."}. Raises RowProblem."""
    value = parts_of(values, column)
    if not value.keys() <= {*STAGES, "why"}:
        raise RowProblem('is not an object such as {"script": 2, "why": "..."}', column=column)
    scores = {stage: score_of(value, stage) for stage in value if stage in STAGES}
    found: dict[str, object] = {stage: one for stage, one in scores.items() if one is not None}
    why = text_of(value, "why", most=MOST_WHY).strip()
    return {**found, "why": why} if why else found


def _json_of(values: dict[str, object], column: str) -> object:
    value = values.get(column)
    if not isinstance(value, str) or not value.strip():
        return value
    try:
        found: object = json.loads(value)
    except (ValueError, RecursionError):
        raise RowProblem("is not valid JSON", column=column) from None
    return found


def _show(value: object) -> str:
    return repr(value if len(str(value)) <= 40 else f"{str(value)[:40]}…")


def _kind(value: object) -> str:
    kinds = {bool: "true or false", int: "a number", float: "a number", list: "a list"}
    return kinds.get(type(value), "an object")
