"""Writes long sets of names as text."""

from __future__ import annotations


def names(text: str) -> frozenset[str]:
    """The words of the text, which are separated by blanks or line breaks."""
    return frozenset(text.split())
