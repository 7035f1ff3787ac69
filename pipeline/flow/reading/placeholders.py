"""Recognises the placeholders of a prompt's answer form when a reply repeats them.

A small model often repeats the form that it was to fill in. Read as an answer, `{"verdict": "match", "reason":
"one sentence"}` would be a verdict that nobody gave.
"""

from __future__ import annotations

import re

_NO_WORDS = re.compile(r"[\W_]*")
_DOTS = re.compile(r"\s*(?:\.{2,}|…)\s*")
_WORDS = re.compile(r"[a-z]+\s+[a-z]+", re.IGNORECASE)
_NOT_LETTERS = re.compile(r"[^a-z]+")
_FORMS = (
    "one sentence|one short sentence|a sentence|short sentence|at most three"
    "|the whole script|whole script|the script|your script|your script here|script here"
    "|bash script|the bash script|reason|the reason|your reason|your reason here"
    "|difference|differences|point|points|functionality|description|your description"
).split("|")


def is_placeholder(text: str) -> bool:
    """Whether a text is a placeholder such as `...` or `one sentence`."""
    if not text.strip():
        return False
    if _NO_WORDS.fullmatch(text):
        return True
    return " ".join(_NOT_LETTERS.split(text.lower())).strip() in _FORMS and not re.search(
        r"\d", text
    )


def is_placeholder_script(text: str) -> bool:
    """The same for a script, where `:` is a command and so are most words that stand alone."""
    return _DOTS.fullmatch(text) is not None or (
        is_placeholder(text) and _WORDS.search(text) is not None
    )
