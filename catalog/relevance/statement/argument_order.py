"""Find words that two statements have in opposite order, as in "http to https" and "https to http"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from catalog.relevance.statement.tokens import Token, split_tokens
from catalog.relevance.statement.vocabulary import words

# Words that connect two parts of a statement, with their meanings.
_JOINTS = {
    joint: meaning
    for meaning, joints in {
        "to": "to into onto towards",
        "from": "from",
        "before": "before until",
        "after": "after since",
        "with": "with by",
        "for": "for",
    }.items()
    for joint in words(joints)
}
_OPPOSITE = ({"to", "from"}, {"before", "after"})
_BETWEEN = words("a an the its their this that these all every each any named called")
_REACH = 2  # words to compare on each side of a connector


class _Joint(NamedTuple):
    meaning: str
    left: frozenset[str]
    right: frozenset[str]


def find_turned(text: str, other: str) -> tuple[str, ...]:
    """Return two words whose order or connector is opposite in the other text, or an empty tuple."""
    theirs = list(_joints_of(split_tokens(other)))
    for one in _joints_of(split_tokens(text)):
        for another in theirs:
            if one.meaning == another.meaning:
                first, second = one.left & another.right, one.right & another.left
                first, second = first - one.right - another.left, second - one.left - another.right
            elif {one.meaning, another.meaning} in _OPPOSITE:
                first, second = one.left & another.left, one.right & another.right
            else:
                continue
            if first and second:
                return min(first), min(second)
    return ()


def _joints_of(tokens: Sequence[Token]) -> Iterator[_Joint]:
    for place, token in enumerate(tokens):
        meaning = "" if token.is_quoted else _JOINTS.get(token.lower, "")
        if meaning:
            left = _beside(tokens[:place][::-1], stops_before=True)
            yield _Joint(meaning, left, _beside(tokens[place + 1 :], stops_before=False))


def _beside(tokens: Sequence[Token], *, stops_before: bool) -> frozenset[str]:
    """Return the nearest significant words, up to the end of the clause or the next connector."""
    found: list[str] = []
    for token in tokens:
        if not token.is_quoted and token.lower in _JOINTS:
            break
        if stops_before and token.ends_clause:
            break
        if token.is_quoted or token.lower not in _BETWEEN:
            found.append(token.lower)
        if len(found) == _REACH or token.ends_clause:
            break
    return frozenset(found)
