"""Find a statement's literals (paths, numbers, names), which are comparable by kind and value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from catalog.relevance.statement import named_things
from catalog.relevance.statement.quantities import read_measure_at
from catalog.relevance.statement.token_shapes import (
    Kind,
    classify,
    is_extension,
    is_identifier,
    is_option,
    read_measure,
)
from catalog.relevance.statement.tokens import Token, split_tokens
from catalog.relevance.statement.vocabulary import FILE_TYPES, STOP_WORDS, is_common, words


@dataclass(frozen=True, slots=True)
class Literal:
    """A literal with its kind, its normalized value and its position.

    `value` is normalized, for example to seconds, bytes or a path without its trailing slash. A literal that is not
    `firm` is a guess (an unknown word, "the current directory", "one"). A guess contradicts an entry only if the entry
    has a different guess in its place.
    """

    kind: Kind
    value: str
    text: str
    start: int
    end: int
    firm: bool = True
    role: str = ""  # what the literal names: service, user, port ...
    side: str = ""  # "from" or "to" if such a preposition precedes it

    @property
    def key(self) -> tuple[str, str]:
        """Return the literal's family and value, which are equal for equivalent literals."""
        return self.kind.family, self.value


def find_literals(text: str) -> tuple[Literal, ...]:
    """Return a statement's literals in order. Only the first 4,000 characters are read."""
    return literals_of(split_tokens(text))


def literals_of(tokens: Sequence[Token]) -> tuple[Literal, ...]:
    """Return the literals in a statement's tokens, in order."""
    found: list[Literal] = []
    position = 0
    while position < len(tokens):
        literal, used = _read(tokens, position)
        if literal is not None:
            found.append(_with_side(literal, tokens, position))
        position += used
    return tuple(found)


def _read(tokens: Sequence[Token], position: int) -> tuple[Literal | None, int]:
    """Return the literal that starts at a token, or None, and the number of tokens to skip."""
    token = tokens[position]
    if token.is_quoted:
        return _read_quoted(tokens, position), 1
    measure = read_measure_at(tokens, position)
    if measure is not None:
        taken = tokens[position : position + measure.used]
        text = " ".join(token.text for token in taken)
        start, end = token.start, taken[-1].end
        literal = Literal(measure.kind, measure.value, text, start, end, measure.firm, measure.role)
        return literal, measure.used
    place, used = _read_place(tokens, position)
    if place is not None:
        return place, used
    return _read_single(tokens, position), 1


def _read_quoted(tokens: Sequence[Token], position: int) -> Literal | None:
    token = tokens[position]
    text = token.text.strip()
    if not text:
        return None
    kind, value = (None if " " in text else classify(text)) or (Kind.TEXT, text)
    role = named_things.role_of(tokens, position)
    if is_extension(text):
        kind, value = Kind.GLOB, f"*{text.lower()}"
    return Literal(kind, value, token.text, token.start, token.end, role=role)


def _read_single(tokens: Sequence[Token], position: int) -> Literal | None:
    """Return the literal in a single token, recognized by its form or by the surrounding words."""
    token = tokens[position]

    def literal(kind: Kind, value: str, *, firm: bool = True) -> Literal:
        role = named_things.role_of(tokens, position)
        return Literal(kind, value, token.text, token.start, token.end, firm, role)

    following = tokens[position + 1].lower if position + 1 < len(tokens) else ""
    if is_extension(token.text) or (token.text.startswith(".") and following in _FILE_NOUNS):
        return literal(Kind.GLOB, f"*{token.lower}")
    if token.lower in _BARE_TYPES and following in _FILE_NOUNS:
        return literal(Kind.GLOB, f"*.{FILE_TYPES[token.lower]}", firm=False)
    if token.is_word:
        return _read_word(tokens, position)
    if is_option(token.text):
        return literal(Kind.TEXT, token.text, firm=False)
    if token.text == "." and not (position and tokens[position - 1].lower in _INTO):
        return None  # a period after a space
    if shape := classify(token.text):
        return literal(*shape, firm=shape[0] != Kind.PATH or not _is_doubtful_path(token.text))
    if is_identifier(token.text):
        return literal(Kind.NAME, token.text)
    name, equals, value = token.text.partition("=")
    if equals and name and (read_measure(value) or is_identifier(value)):
        kind = Kind.NUMBER if value.isdigit() else Kind.NAME
        return Literal(kind, value, value, token.end - len(value), token.end)
    if "/" in token.text and named_things.role_of(tokens, position) == "branch":
        return literal(Kind.PATH, token.text)
    if "-" in token.text and not all(map(is_common, token.lower.split("-"))):
        return literal(Kind.NAME, token.text, firm=bool(named_things.role_of(tokens, position)))
    return None


def _read_word(tokens: Sequence[Token], position: int) -> Literal | None:
    """Return a word as a name if its form or role suggests a name, or if it is not a common word."""
    token = tokens[position]
    word = token.lower.removesuffix("'s").removesuffix("’s")
    text = token.text[: len(word)]
    if is_identifier(text):
        return Literal(Kind.NAME, text, text, token.start, token.start + len(text))
    role = named_things.role_of(tokens, position)
    if named_things.is_named(tokens, position) and is_common(word):
        return Literal(Kind.NAME, word, text, token.start, token.end, role=role)
    if role and named_things.may_be_name(word, role):
        end = token.start + len(word)
        return Literal(Kind.NAME, word, text, token.start, end, not is_common(word), role)
    if is_common(word) or len(word) < 2 or _is_verb(tokens, position):
        return None
    return Literal(Kind.NAME, word, text, token.start, token.start + len(word), firm=False)


def _is_verb(tokens: Sequence[Token], position: int) -> bool:
    """Return whether an unknown word is probably a verb, because it is the first word and "the" or the like follows."""
    return position == 0 and len(tokens) > 1 and tokens[1].lower in STOP_WORDS


def _read_place(tokens: Sequence[Token], position: int) -> tuple[Literal | None, int]:
    """Return a described path, such as "the current directory" or "my home directory", as a guessed literal."""
    spoken = [token.lower for token in tokens[position : position + 3]]
    if len(spoken) < 2:
        return None, 1
    value, used = "", 2
    if spoken[1] in named_things.DIRECTORY_WORDS:
        value = _PLACES.get(spoken[0], "")
    elif spoken[0] in _WHOLE and spoken[1] == "filesystem":
        value = "/"
    elif spoken[0] in _WHOLE and spoken[1:3] == ["file", "system"]:
        value, used = "/", 3
    if not value:
        return None, 1
    first, last = tokens[position], tokens[position + used - 1]
    return Literal(Kind.PATH, value, value, first.start, last.end, firm=False), used


def _is_doubtful_path(text: str) -> bool:
    """Return whether the text may be two words with a slash between them, as in "node/npm"."""
    parts = text.split("/")
    return len(parts) == 2 and all(map(str.isalpha, parts)) and any(map(is_common, parts))


def _with_side(literal: Literal, tokens: Sequence[Token], position: int) -> Literal:
    """Return the literal with its `side`, which depends on a preceding "from" or "to"."""
    for token in reversed(tokens[max(0, position - 4) : position]):
        if token.lower in ("to", "into", "onto", "towards"):
            return replace(literal, side="to")
        if token.lower == "from":
            return replace(literal, side="from")
        if token.ends_clause or not (token.is_word and named_things.may_intervene(token.lower)):
            break
    return literal


_FILE_NOUNS = words(
    """
    file files extension extensions suffix image images script scripts source sources document
    documents header headers archive archives program programs
    """
)
_BARE_TYPES = frozenset(FILE_TYPES) - {"a", "o", "so", "class", "out", "war"}
_INTO = words("in under of from to at into within below inside")
_PLACES = {"current": ".", "working": ".", "present": ".", "home": "~", "root": "/"}
_WHOLE = words("whole entire complete root")
