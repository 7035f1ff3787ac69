"""Patterns of arguments: * for any text, ? for one character, and ** as last for any number of arguments."""

from __future__ import annotations

from collections.abc import Sequence

ANY_NUMBER = "**"


def match_arguments(patterns: Sequence[str], arguments: Sequence[str]) -> bool:
    """Whether each argument fits its own pattern: arguments are never joined to one text."""
    if patterns and patterns[-1] == ANY_NUMBER:
        patterns = patterns[:-1]
        arguments = arguments[: len(patterns)]
    return len(patterns) == len(arguments) and all(map(match_text, patterns, arguments))


def match_text(pattern: str, text: str) -> bool:
    """Whether the whole text fits, in at most len(pattern) * len(text) steps, whatever the pattern is."""
    position = at = 0
    star, star_at = -1, 0
    while at < len(text):
        if position < len(pattern) and pattern[position] == "*":
            star, star_at = position, at
            position += 1
        elif position < len(pattern) and pattern[position] in ("?", text[at]):
            position += 1
            at += 1
        elif star >= 0:
            # Only the last star needs another try: what an earlier one took is long enough already.
            star_at += 1
            position, at = star + 1, star_at
        else:
            return False
    return all(character == "*" for character in pattern[position:])
