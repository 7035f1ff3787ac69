"""The phrases by which replies say what a code block is; `phrases.tsv` has one a line, each with an example."""

from __future__ import annotations

import re
from pathlib import Path

ROWS = [
    line.split("\t")
    for line in Path(__file__).with_suffix(".tsv").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]
_ROLES = {
    role: re.compile(
        rf"(?:\b|(?=#))(?:{'|'.join(pattern for one, pattern, _ in ROWS if one == role)})",
        re.IGNORECASE | re.MULTILINE,
    )
    for role in {row[0] for row in ROWS}
}


def says(words: str, *roles: str) -> bool:
    """Whether the words contain a phrase of one of the roles."""
    return any(_ROLES[role].search(words) for role in roles)
