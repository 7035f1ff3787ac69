"""Marks texts for translation where Django is not imported; who shows them translates them."""

from __future__ import annotations


def gettext_noop(text: str) -> str:
    """Return the text as it is: imported as `_`, the name by which `makemessages` collects texts."""
    return text
