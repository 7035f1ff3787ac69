"""Match arguments against patterns: * for any text, ? for one character, and a final ** for any arguments."""

from __future__ import annotations

from collections.abc import Sequence

ANY_NUMBER = "**"


def match_arguments(patterns: Sequence[str], arguments: Sequence[str]) -> bool:
    """Return whether each argument matches its own pattern. Arguments are never joined into one text."""
    if patterns and patterns[-1] == ANY_NUMBER:
        patterns = patterns[:-1]
        arguments = arguments[: len(patterns)]
    return len(patterns) == len(arguments) and all(map(match_text, patterns, arguments))


def match_text(pattern: str, text: str) -> bool:
    """Return whether the whole text matches, in at most len(pattern) * len(text) steps."""
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
            # Only the last star needs another attempt, because an earlier star's match never has to be longer.
            star_at += 1
            position, at = star + 1, star_at
        else:
            return False
    return all(character == "*" for character in pattern[position:])
