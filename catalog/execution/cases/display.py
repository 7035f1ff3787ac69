"""Make the text of scripts and tests safe to display by escaping characters that hide or reverse text."""

from __future__ import annotations

import unicodedata

LONGEST = 300
# Control and format characters (bidi, zero width), surrogates, private-use and unassigned characters, and line
# separators.
_UNSEEN = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))


def show(text: str) -> str:
    """Return the text with all invisible characters except newlines and tabs written as code points."""
    return "".join(_show(character) for character in text)


def show_name(text: str) -> str:
    """Format a path, a command or a value for a sentence: on one line, in backticks, and shortened if it is
    very long.
    """
    shown = show(text).replace("\n", "\\n").replace("\t", "\\t")
    if len(shown) > LONGEST:
        shown = f"{shown[:LONGEST]}…"
    return f"`{shown}`"


def show_list(texts: list[str] | tuple[str, ...]) -> str:
    """Return the first eight strings as a comma-separated list, with the number of remaining strings."""
    shown = [show_name(text) for text in texts[:8]]
    if len(texts) > 8:
        shown.append(f"{len(texts) - 8} more")
    return ", ".join(shown) if shown else "nothing"


def _show(character: str) -> str:
    if character in "\n\t" or unicodedata.category(character) not in _UNSEEN:
        return character
    number = ord(character)
    if 0xDC80 <= number <= 0xDCFF:  # a byte that was not valid UTF-8
        return f"\\x{number - 0xDC00:02x}"
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"
