"""The phrases and tokens by which replies say what a text is; `phrases.tsv` has one a line, each with an example."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

ROWS = [
    line.split("\t")
    for line in Path(__file__).with_suffix(".tsv").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]


@cache
def pattern(role: str) -> re.Pattern[str]:
    """A regular expression for all phrases of a role; those of letters begin at the beginning of a word."""
    phrases = "|".join(phrase for one, phrase, _ in ROWS if one == role)
    return re.compile(rf"(?:\b|(?=\W))(?:{phrases})", re.IGNORECASE | re.MULTILINE)


def says(words: str, *roles: str) -> bool:
    """Whether the words contain a phrase of one of the roles."""
    return any(pattern(role).search(words) for role in roles)
