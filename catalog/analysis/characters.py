"""Find hidden characters, which readers can't see, and look-alike characters, which readers mistake for others."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from catalog.analysis.shell.command_words import Text, Word
from catalog.analysis.shell.fragments import Span
from catalog.analysis.shell.program import Program
from catalog.analysis.types import Finding, Level, Outcome

CHECK = "characters"
VERSION = "1"
MAXIMUM_FINDINGS = 100


class CharacterKind(StrEnum):
    """The reason why a character is reported, also used as the code of its finding."""

    BIDI_CONTROL = "bidi_control"
    ZERO_WIDTH = "zero_width"
    CONTROL = "control_character"
    ODD_SPACE = "odd_space"
    LOOK_ALIKE = "look_alike"


@dataclass(frozen=True, kw_only=True)
class HiddenCharacter:
    """A hidden or look-alike character. `offset` starts at 0, and `line` and `column` start at 1."""

    offset: int
    line: int
    column: int
    character: str
    name: str
    kind: CharacterKind

    @property
    def code_point(self) -> str:
        return f"U+{ord(self.character):04X}"


_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_ZERO_WIDTH = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u206a-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_SPACES = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\u2028\u2029"
_CONTROLS = "\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
_HIDDEN = re.compile(
    rf"(?P<bidi_control>[{_BIDI}])|(?P<zero_width>[{_ZERO_WIDTH}])|(?P<odd_space>[{_SPACES}])"
    rf"|(?P<control_character>[{_CONTROLS}]|\r(?!\n))"
)
_ODD_ASCII = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)")
# Joiners and variation selectors are normal in emoji and some writing systems.
_JOINERS = frozenset("\u200c\u200d\ufe0e\ufe0f")
_LEVELS = {
    CharacterKind.BIDI_CONTROL: Level.ERROR,
    CharacterKind.ZERO_WIDTH: Level.WARNING,
    CharacterKind.CONTROL: Level.WARNING,
    CharacterKind.ODD_SPACE: Level.WARNING,
    CharacterKind.LOOK_ALIKE: Level.WARNING,
}
_EFFECTS = {
    CharacterKind.BIDI_CONTROL: "changes the displayed order of the line",
    CharacterKind.ZERO_WIDTH: "is invisible",
    CharacterKind.CONTROL: "is invisible or moves the cursor in a terminal",
    CharacterKind.ODD_SPACE: "looks like a space but is not one for Bash",
    CharacterKind.LOOK_ALIKE: "looks like {ascii} but is a different character for Bash",
}
# Dashes and quotes that word processors and chat programs insert, and letters of other writing systems.
_PUNCTUATION = {
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d", "-"),
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\uff07", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\uff02", '"'),
    "\u2044": "/",
    "\u2215": "/",
    "\u29f8": "/",
    "\uff0f": "/",
    "\u037e": ";",
    "\uff1b": ";",
    "\uff5c": "|",
    "\u2223": "|",
    "\uff04": "$",
    "\uff1e": ">",
    "\uff06": "&",
}
_LETTERS = dict(
    zip(
        "аеорсухіјѕԁһӏԛԝмтнквпгзАВЕКМНОРСТХІЈЅαονικρτυΑΒΕΖΗΙΚΜΝΟΡΤΥΧıɡɑ",
        "aeopcyxijsdhlqwmthkbnr3ABEKMHOPCTXIJSaovikptuABEZHIKMNOPTYXiga",
        strict=True,
    )
)


def is_plain(script: str) -> bool:
    """Return whether the script is ASCII without control characters, so nothing can be hidden in it."""
    return script.isascii() and not _ODD_ASCII.search(script)


def find_hidden_characters(script: str, program: Program) -> tuple[HiddenCharacter, ...]:
    """Return all hidden and look-alike characters in the script, sorted by offset.

    Look-alikes are reported only in code: in command names, in options and as quotes. Strings and comments can be in
    any language.
    """
    found = {character.offset: character for character in _hidden(script)}
    for character in _look_alikes(script, program):
        found.setdefault(character.offset, character)
    return tuple(found[offset] for offset in sorted(found))


def find_odd_in_words(text: str) -> tuple[HiddenCharacter, ...]:
    """Return all hidden and look-alike characters in natural-language text, such as a title, sorted by offset.

    Quotes and dashes are normal in such text. A letter that looks like an ASCII letter is reported if its word mixes
    writing systems, or if no other letter clearly belongs to another writing system.
    """
    if is_plain(text):
        return ()
    found = {character.offset: character for character in _hidden(text)}
    counter = _LineCounter(text)
    is_foreign = any(not one.isascii() and one.isalpha() and not _ascii_form(one) for one in text)
    for word in re.finditer(r"\w+|[^\w\s]", text):
        for offset in _look_alikes_in(word, is_foreign=is_foreign):
            found.setdefault(offset, counter.character(offset, CharacterKind.LOOK_ALIKE))
    return tuple(found[offset] for offset in sorted(found))


def _look_alikes_in(word: re.Match[str], *, is_foreign: bool) -> list[int]:
    letters = word[0]
    if letters.isascii():
        return []
    if len(letters) == 1 and not letters.isalnum():
        return [word.start()] if _PUNCTUATION.get(letters, "-") not in "-'\"" else []
    # Some languages that use Latin script have a few of these letters.
    is_mixed = re.search("[A-Za-z]", letters) is not None
    return [
        word.start() + place
        for place, one in enumerate(letters)
        if one.isalpha()
        and _ascii_form(one)
        and (not is_foreign or (is_mixed and not unicodedata.name(one, "").startswith("LATIN")))
    ]


def check_characters(script: str, program: Program) -> list[Finding]:
    """Return the hidden and look-alike characters as findings."""
    characters = find_hidden_characters(script, program)
    findings = [_finding(character) for character in characters[:MAXIMUM_FINDINGS]]
    return findings or [
        Finding(
            check=CHECK,
            version=VERSION,
            outcome=Outcome.PASSED,
            level=Level.INFO,
            code="nothing-hidden",
            message="No hidden or look-alike characters.",
        )
    ]


def _finding(character: HiddenCharacter) -> Finding:
    ascii_form = _ascii_form(character.character)
    effect = _EFFECTS[character.kind].replace("{ascii}", ascii_form or "an ASCII letter")
    is_escape = character.character == "\x1b"
    return Finding(
        check=CHECK,
        version=VERSION,
        outcome=Outcome.FAILED,
        level=Level.ERROR if is_escape else _LEVELS[character.kind],
        code=character.kind,
        message=f"{character.name} ({character.code_point}) {effect}.",
        line=character.line,
        column=character.column,
        end_line=character.line,
        end_column=character.column + 1,
    )


def _hidden(script: str) -> Iterator[HiddenCharacter]:
    counter = _LineCounter(script)
    for found in _HIDDEN.finditer(script):
        character, offset = found[0], found.start()
        if character in _JOINERS and _joins(script, offset):
            continue
        yield counter.character(offset, CharacterKind(found.lastgroup or ""))


def _joins(script: str, offset: int) -> bool:
    around = (script[max(offset - 1, 0) : offset], script[offset + 1 : offset + 2])
    before_is_letter = bool(around[0]) and not around[0].isascii()
    if script[offset] in "\ufe0e\ufe0f":
        return before_is_letter
    return before_is_letter and bool(around[1]) and not around[1].isascii()


def _look_alikes(script: str, program: Program) -> Iterator[HiddenCharacter]:
    if script.isascii():
        return
    counter = _LineCounter(script)
    lines = script.split("\n")
    for command in program.commands:
        for place, word in enumerate(command.words):
            if word.span.unit.source.isascii():
                continue
            letters = _suspicious(word, is_name=place == 0)
            if letters:
                yield from _locate(letters, word.span, lines, counter)


def _suspicious(word: Word, *, is_name: bool) -> frozenset[str]:
    """Return the characters of the word that could be mistaken for ASCII characters with a special meaning."""
    suspicious: set[str] = set()
    for position, part in enumerate(word.parts):
        if not isinstance(part, Text) or (part.quoted and not is_name):
            continue
        if is_name:
            suspicious |= {letter for letter in part.value if _ascii_form(letter)}
        else:
            # Quotes are suspicious everywhere, and dashes only at the start of an option.
            suspicious |= {letter for letter in part.value if _PUNCTUATION.get(letter, "-") != "-"}
            if position == 0 and _PUNCTUATION.get(part.value[:1]) == "-":
                suspicious.add(part.value[0])
    return frozenset(suspicious)


def _locate(
    letters: frozenset[str], span: Span, lines: list[str], counter: _LineCounter
) -> Iterator[HiddenCharacter]:
    place = span.place
    for line in range(place.line, min(place.end_line, len(lines)) + 1):
        text = lines[line - 1]
        first = place.column - 1 if line == place.line else 0
        last = place.end_column - 1 if line == place.end_line else len(text)
        for column in range(first, min(last, len(text))):
            if text[column] in letters:
                yield counter.at(line, column + 1, CharacterKind.LOOK_ALIKE)


def _ascii_form(character: str) -> str:
    """Return the ASCII character that this character looks like, or an empty string."""
    if character.isascii():
        return ""
    known = _PUNCTUATION.get(character) or _LETTERS.get(character)
    if known:
        return known
    # The compatibility form of full-width and mathematical letters is the plain letter.
    plain = unicodedata.normalize("NFKC", character)
    return plain if len(plain) == 1 and plain.isascii() and plain.isprintable() else ""


class _LineCounter:
    """A converter between lines and columns and offsets. Offsets must be given in ascending order."""

    def __init__(self, script: str) -> None:
        self._script = script
        self._starts = [0, *(found.end() for found in re.finditer("\n", script))]
        self._line = 1

    def character(self, offset: int, kind: CharacterKind) -> HiddenCharacter:
        while self._line < len(self._starts) and self._starts[self._line] <= offset:
            self._line += 1
        return self.at(self._line, offset - self._starts[self._line - 1] + 1, kind)

    def at(self, line: int, column: int, kind: CharacterKind) -> HiddenCharacter:
        offset = self._starts[line - 1] + column - 1
        character = self._script[offset]
        return HiddenCharacter(
            offset=offset,
            line=line,
            column=column,
            character=character,
            name=_name(character),
            kind=kind,
        )


_CONTROL_NAMES = {"\x1b": "ESCAPE", "\r": "CARRIAGE RETURN", "\b": "BACKSPACE", "\x7f": "DELETE"}


def _name(character: str) -> str:
    unnamed = _CONTROL_NAMES.get(character, "CONTROL CHARACTER")
    return unicodedata.name(character, unnamed)
