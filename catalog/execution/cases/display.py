"""Text of a script or a case in a safe form for people: nothing in it moves a cursor, hides or reverses text."""

from __future__ import annotations

import unicodedata

LONGEST = 300
# Controls, format marks (bidi, zero width), surrogates, private use, not assigned, separators of lines.
_UNSEEN = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))


def show(text: str) -> str:
    """The text with every invisible or ambiguous character written as its code point, except newlines and tabs."""
    return "".join(_show(character) for character in text)


def show_name(text: str) -> str:
    """On one line, shortened if it is very long, in backquotes: for a path, a command or a value in a sentence."""
    shown = show(text).replace("\n", "\\n").replace("\t", "\\t")
    if len(shown) > LONGEST:
        shown = f"{shown[:LONGEST]}…"
    return f"`{shown}`"


def show_list(texts: list[str] | tuple[str, ...]) -> str:
    """Some of them by name, the rest as a number."""
    shown = [show_name(text) for text in texts[:8]]
    if len(texts) > 8:
        shown.append(f"{len(texts) - 8} more")
    return ", ".join(shown) if shown else "nothing"


def _show(character: str) -> str:
    if character in "\n\t" or unicodedata.category(character) not in _UNSEEN:
        return character
    number = ord(character)
    if 0xDC80 <= number <= 0xDCFF:  # a byte that was not UTF-8
        return f"\\x{number - 0xDC00:02x}"
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"
