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
_FORM = re.compile(
    r"(?:(?:one|a) )?(?:short )?sentence|at most three"
    r"|(?:the |your )?(?:whole |bash )?(?:script|reason)(?: here)?"
    r"|(?:your )?(?:differences?|points?|functionality|description)"
)


def is_placeholder(text: str) -> bool:
    """Whether a text is a placeholder such as `...` or `one sentence`."""
    if not text.strip():
        return False
    if _NO_WORDS.fullmatch(text):
        return True
    words = " ".join(_NOT_LETTERS.split(text.lower())).strip()
    return _FORM.fullmatch(words) is not None and not re.search(r"\d", text)


def is_placeholder_script(text: str) -> bool:
    """The same for a script, where `:` is a command and so are most words that stand alone."""
    return _DOTS.fullmatch(text) is not None or (
        is_placeholder(text) and _WORDS.search(text) is not None
    )
