"""Shorten feedback by rule: requests for changes first, without reasons and courtesies."""

from __future__ import annotations

import re

_MOST_POINTS = 3
_MOST_WORDS = 18
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s*")
# Does not match after a one-letter abbreviation, or inside a path or an option.
_SENTENCE_END = re.compile(r"(?<=[^\s.][.!?;])\s+(?=[A-Z`\"'(-])")
_ASKS = re.compile(
    r"\b(?:use|replace|change|should|must|missing|wrong|instead|not|never|add|remove|quote)\b", re.I
)
# The rest of a sentence from here on is a reason.
_REASON = re.compile(
    r",?\s+(?:because|since|so that|as otherwise|otherwise|which means|in order)\b.*$", re.I | re.S
)


def shorten(feedback: str) -> list[str]:
    """Return at most three points from the feedback, requests for changes first."""
    lines = [_BULLET.sub("", line).strip() for line in feedback.splitlines()]
    sentences = [one for line in lines for one in _SENTENCE_END.split(line) if one]
    points = list(dict.fromkeys(point for one in sentences if (point := _cut(one))))
    asking = [point for point in points if _ASKS.search(point)]
    return (asking or points)[:_MOST_POINTS]


def _cut(sentence: str) -> str:
    words = _REASON.sub("", sentence).strip(" .;").split()
    return " ".join(words[:_MOST_WORDS]) + "." if words else ""
