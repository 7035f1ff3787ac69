"""Turns words into the text that an inner shell reads, keeping its place in the script."""

from __future__ import annotations

from catalog.analysis.shell.command_words import Output, Part, Text, Variable, Word, join_parts
from catalog.analysis.shell.fragments import Span, Unit


def join_words(words: tuple[Word, ...]) -> Word:
    """One word of all of them with blanks between, as `eval`, `ssh` and `echo` make it."""
    return words[0] if len(words) == 1 else join_parts(words, " ")


def unit_of(word: Word, *, depth: int) -> Unit:
    """The text of the word as a unit to be parsed."""
    outer = word.span
    text = "".join(_written(part) for part in word.parts)
    encoded = text.encode("utf-8", "replace")
    # Between quotes, or in a heredoc, it mostly stands letter for letter: then places are exact.
    for skipped in (0, 1):
        start, end = outer.start + skipped, outer.end - skipped
        if outer.unit.source[start:end] == encoded:
            return Unit(encoded, Span(outer.unit, start, end), exact=True, depth=depth)
    return Unit(encoded, outer, depth=depth)


def _written(part: Part) -> str:
    match part:
        case Text(value):
            return value
        case Variable(name, _, operator, operand):
            if operator in ("#", "!") and not operand:
                return f"${{{operator}{name}}}"
            return f"${{{name}{operator}{operand}}}" if operator else f"${name}"
        case Output(_, source):
            return source
