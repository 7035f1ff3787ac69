"""Marks texts for translation in modules that do not import Django; the code that shows them translates them."""

from __future__ import annotations


def gettext_noop(text: str) -> str:
    """Return the text unchanged. Imported as `_`, the name that `makemessages` looks for."""
    return text
