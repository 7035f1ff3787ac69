"""Match phrases and tokens that replies use to describe their text. `phrases.tsv` gives an example of each."""

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
    """Return a pattern for all phrases with this role. A phrase that begins with a letter must start a word."""
    phrases = "|".join(phrase for one, phrase, _ in ROWS if one == role)
    return re.compile(rf"(?:\b|(?!\w))(?:{phrases})", re.IGNORECASE | re.MULTILINE)


def says(words: str, *roles: str) -> bool:
    """Return whether the text contains a phrase with one of the roles."""
    return any(pattern(role).search(words) for role in roles)


def consists_of(text: str, *roles: str) -> bool:
    """Return whether every nonblank line begins with a phrase with one of the roles."""
    lines = [line.lstrip() for line in text.splitlines() if line.strip()]
    return all(any(pattern(role).match(line) for role in roles) for line in lines)


def is_placeholder(text: str) -> bool:
    """Return whether a text is a placeholder of an answer form, such as `...` or `one sentence`."""
    words = re.sub(r"[\W\d_]+", " ", text).strip()
    is_form = pattern("form").fullmatch(words) is not None and not re.search(r"\d", text)
    return bool(text.strip()) and (is_form or not re.search(r"[^\W_]", text))


def is_placeholder_script(text: str) -> bool:
    """Return whether a script is a placeholder. A single word or `:` does not count, because it may be a command."""
    is_words = re.search(r"[a-z]\s+[a-z]", text, re.IGNORECASE) is not None
    return text.strip() in ("..", "...", "....", "…") or (is_words and is_placeholder(text))
