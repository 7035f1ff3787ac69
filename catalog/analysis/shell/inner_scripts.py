"""Turns words into the text that an inner shell reads, keeping its place in the script."""

from __future__ import annotations

import re

from catalog.analysis.shell.command_words import Output, Part, Text, Variable, Word
from catalog.analysis.shell.commands import Command
from catalog.analysis.shell.fragments import Span, Unit


def join_words(words: tuple[Word, ...]) -> Word:
    """One word of all of them with blanks between, as `eval`, `ssh` and `echo` make it."""
    if len(words) == 1:
        return words[0]
    parts: list[Part] = []
    for word in words:
        parts += [Text(" "), *word.parts] if parts else word.parts
    first, last = words[0].span, words[-1].span
    is_one_unit = first.unit is last.unit
    return Word(tuple(parts), Span(first.unit, first.start, last.end if is_one_unit else first.end))


def unit_of(word: Word, value: str | None, *, depth: int) -> Unit:
    """The text of the word, or this known `value` of it, as a unit to be parsed."""
    outer = word.span
    text = value if value is not None else "".join(_written(part) for part in word.parts)
    encoded = text.encode("utf-8", "replace")
    # Between quotes, or in a heredoc, it mostly stands letter for letter: then places are exact.
    for skipped in (0, 1):
        start, end = outer.start + skipped, outer.end - skipped
        if outer.unit.source[start:end] == encoded:
            return Unit(encoded, Span(outer.unit, start, end), exact=True, depth=depth)
    return Unit(encoded, outer, depth=depth)


def printed_text(command: Command) -> Word | None:
    """What the command prints, where the script says so letter for letter; else None."""
    words = command.arguments
    if command.name == "cat" and not words:
        return command.fed_text
    if command.name not in ("echo", "printf"):
        return None
    is_escaped = command.name == "printf"
    while words and re.fullmatch(r"-[neE]+", words[0].literal or ""):
        is_escaped = is_escaped or "e" in (words[0].literal or "")
        words = words[1:]
    if not words:
        return None
    joined = join_words(words)
    if not is_escaped:
        return joined
    parts = tuple(_with_newlines(part) for part in joined.parts)
    return Word(parts, joined.span)


def _with_newlines(part: Part) -> Part:
    if isinstance(part, Text):
        return Text(part.value.replace("\\n", "\n"), part.quoted)
    return part


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
