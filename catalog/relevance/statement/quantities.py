"""Read numbers with their units and kinds, as in "30 days", "10MB", "five", "port 8080" or "the last hour"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from catalog.relevance.statement.token_shapes import Kind, read_measure
from catalog.relevance.statement.tokens import Token
from catalog.relevance.statement.vocabulary import (
    DURATION_UNITS,
    NUMBER_WORDS,
    ORDINAL_WORDS,
    SIZE_UNITS,
    words,
)

_UNITS = frozenset(DURATION_UNITS) | frozenset(SIZE_UNITS)
_SIZE_WORDS = words("size sized bigger larger smaller biggest largest space bytes")
_MODE_WORDS = words("permission permissions perm perms mode modes chmod rights umask")
_PRODUCT = re.compile(r"(\d{1,6})\*(\d{1,6})")  # "30*24 hours"
_RANGE = re.compile(r"\d{1,9}[-–]\d{1,9}")
_DAY = str(DURATION_UNITS["day"])


class Measure(NamedTuple):
    """A number in seconds, in bytes or as written, and how many tokens it consists of."""

    kind: Kind
    value: str
    used: int = 1
    firm: bool = True
    role: str = ""


def read_measure_at(tokens: Sequence[Token], position: int) -> Measure | None:
    """Return the number or time span that starts at a token, including its unit, or None."""
    token = tokens[position]
    if _RANGE.fullmatch(token.text):
        return Measure(Kind.NUMBER, token.text.replace("–", "-"))
    measure = read_measure(token.text)
    if product := _PRODUCT.fullmatch(token.text):
        measure = float(product[1]) * float(product[2]), ""
    is_spelled = measure is None
    measure = measure or _read_spelled(tokens, position)
    if measure is None:
        return _read_span(tokens, position)
    number, unit = measure
    used = 1
    if not unit:
        unit, used = _read_unit(tokens, position)
    kind, value = _scale(number, unit, tokens, position, used)
    if kind == Kind.MODE and is_spelled:
        kind = Kind.NUMBER
    firm = not is_spelled or bool(unit)
    role = "port" if kind == Kind.PORT else ""
    return Measure(kind, f"{value:.15g}", used, firm, role)


def _read_spelled(tokens: Sequence[Token], position: int) -> tuple[float, str] | None:
    """Return the number and unit of a spelled number such as "five", "ten-day" or "third", or None."""
    token = tokens[position]
    number, _, rest = token.lower.partition("-")
    if number in NUMBER_WORDS and (not rest or rest in _UNITS):
        return NUMBER_WORDS[number], rest
    if token.lower not in ORDINAL_WORDS or token.ends_clause or position + 1 == len(tokens):
        return None
    counted = tokens[position + 1]  # "the first line", not "the first 5 lines"
    return (ORDINAL_WORDS[token.lower], "") if counted.is_word else None


def _read_unit(tokens: Sequence[Token], position: int) -> tuple[str, int]:
    """Return the unit that follows a number, and the length of both in tokens. Also handle "10 and 20 MB"."""
    following = tokens[position + 1 : position + 4]
    if not following or following[0].is_quoted:
        return "", 1
    spoken = [token.lower for token in following]
    if spoken[0] in _UNITS and len(spoken[0]) > 1:
        return spoken[0], 2
    if spoken[0] == "percent" or spoken[:2] == ["per", "cent"]:
        return "%", 2 if spoken[0] == "percent" else 3
    if spoken[0] in ("a", "an") and spoken[1:2] and spoken[1] in _UNITS and len(spoken[1]) > 1:
        return spoken[1], 3  # "half an hour"
    if spoken[0] == "or" and spoken[2:] and spoken[2] in _UNITS:
        return spoken[2], 4  # "5 or more days"
    if spoken[0] in ("and", "to", "or", "-") and len(spoken) > 1:
        second = read_measure(following[1].text)
        if second and second[1]:
            return second[1], 1
        if second and len(spoken) > 2 and spoken[2] in _UNITS:
            return spoken[2], 1
    return "", 1


def _scale(
    number: float, unit: str, tokens: Sequence[Token], position: int, used: int
) -> tuple[Kind, float]:
    """Return the kind, and the value in seconds or bytes if it has a unit. The context decides what "5m" means."""
    before = [token.lower for token in tokens[max(0, position - 12) : position]]
    after = [token.lower for token in tokens[position + used : position + used + 4]]
    if unit == "%":
        return Kind.PERCENT, number
    is_size = unit not in DURATION_UNITS or _SIZE_WORDS.intersection(before[-4:] + after[:2])
    if unit in SIZE_UNITS and is_size:
        return Kind.SIZE, number * SIZE_UNITS[unit]
    if unit in DURATION_UNITS:
        return Kind.DURATION, number * DURATION_UNITS[unit]
    text = tokens[position].text
    if _is_octal(text) and (text.startswith("0") or _MODE_WORDS.intersection(before + after)):
        return Kind.MODE, float(text)
    if {"port", "ports"}.intersection(before[-3:]):
        return Kind.PORT, number
    return Kind.NUMBER, number


def _is_octal(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) in (3, 4) and not set(text) & {"8", "9"}


def _read_span(tokens: Sequence[Token], position: int) -> Measure | None:
    """Return a time span without a number, as in "the last hour", "an hour", "today" or "yesterday", or None."""
    token = tokens[position]
    if token.lower == "today":
        return Measure(Kind.DURATION, _DAY, firm=False)
    if token.lower == "yesterday":  # starts at most two days ago
        return Measure(Kind.DURATION, str(2 * int(_DAY)), firm=False)
    if position + 1 == len(tokens) or token.ends_clause:
        return None
    unit = tokens[position + 1]
    if len(unit.text) < 3 or unit.lower not in DURATION_UNITS:
        return None
    if unit.lower == "second" and position + 2 < len(tokens) and not unit.ends_clause:
        return None  # more likely an ordinal than a time span
    seconds = str(DURATION_UNITS[unit.lower])
    if token.lower in ("last", "past", "previous"):
        return Measure(Kind.DURATION, seconds, used=2)
    if token.lower in ("a", "an", "every", "each", "per"):
        return Measure(Kind.DURATION, seconds, used=2, firm=False)
    return None
