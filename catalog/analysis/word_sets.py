"""Reads a set of words from text, so that long sets can be written as text."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """The words of the text, which are separated by blanks or line breaks."""
    return frozenset(text.split())
