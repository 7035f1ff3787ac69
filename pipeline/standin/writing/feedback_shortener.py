"""Shortens feedback by rule: what asks for a change first, without its reasons and courtesies."""

from __future__ import annotations

import re

_MOST_POINTS = 3
_MOST_WORDS = 18
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s*")
# Not after an abbreviation of one letter, and not inside a path or an option.
_SENTENCE_END = re.compile(r"(?<=[^\s.][.!?;])\s+(?=[A-Z`\"'(-])")
_ASKS = re.compile(
    r"\b(?:use|replace|change|should|must|missing|wrong|instead|not|never|add|remove|quote)\b", re.I
)
# From here on a sentence gives its reasons.
_REASON = re.compile(
    r",?\s+(?:because|since|so that|as otherwise|otherwise|which means|in order)\b.*$", re.I | re.S
)


def shorten(feedback: str) -> list[str]:
    """At most three points in the words of the feedback, those that ask for a change before others."""
    lines = [_BULLET.sub("", line).strip() for line in feedback.splitlines()]
    sentences = [one for line in lines for one in _SENTENCE_END.split(line) if one]
    points = list(dict.fromkeys(point for one in sentences if (point := _cut(one))))
    asking = [point for point in points if _ASKS.search(point)]
    return (asking or points)[:_MOST_POINTS]


def _cut(sentence: str) -> str:
    words = _REASON.sub("", sentence).strip(" .;").split()
    return " ".join(words[:_MOST_WORDS]) + "." if words else ""
