"""Mark strings for translation in modules that do not import Django. The code that shows a string translates it."""

from __future__ import annotations


def gettext_noop(text: str) -> str:
    """Return the text unchanged. Import this function as `_`, because `makemessages` looks for this name."""
    return text
