"""Read the data files of the analysis: tables with lines `names = text`, and the word lists in words.txt."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

_FOLDER = Path(__file__).parent


def read_table(file: str, section: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield the name, subcommands and text of each line in a section. `a|b c = text` defines both a and b.

    Indented lines continue the previous line. A line in brackets begins a section.
    """
    is_inside = not section
    text = (_FOLDER / file).read_text("utf-8")
    for line in re.sub(r"\n[ \t]+", " ", text).splitlines():
        if line.startswith("["):
            is_inside = line == f"[{section}]"
        elif is_inside and line and not line.startswith("#"):
            left, _, meaning = f"{line} ".partition(" = ")
            names, _, subcommands = left.partition(" ")
            for name in names.split("|"):
                yield name, subcommands, meaning.strip()


WORDS = {name: frozenset(text.split()) for name, _, text in read_table("words.txt")}


def word_map(name: str) -> dict[str, str]:
    """Return a word list with entries such as `a=b` as a mapping."""
    return {left: right for left, _, right in (word.partition("=") for word in WORDS[name])}


def word_set(text: str) -> frozenset[str]:
    """Return the words in the text, which are separated by spaces or line breaks."""
    return frozenset(text.split())


# The regular expressions in programs.txt, by name.
PATTERNS = {
    name: re.compile(pattern) for name, _, pattern in read_table("shell/programs.txt", "patterns")
}
