"""Compute and cache the data that the rules need about a statement."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from catalog.relevance.statement.actions import actions_of
from catalog.relevance.statement.literals import Literal, literals_of
from catalog.relevance.statement.objects import objects_of
from catalog.relevance.statement.qualifiers import marks_of
from catalog.relevance.statement.token_shapes import Kind
from catalog.relevance.statement.tokens import LONGEST, Token, split_tokens
from catalog.relevance.statement.vocabulary import ORDINAL_WORDS, STOP_WORDS, lemma, words

_SIGNS = {
    Kind.DURATION: "#d",
    Kind.SIZE: "#s",
    Kind.NUMBER: "#n",
    Kind.PORT: "#n",
    Kind.MODE: "#m",
    Kind.PERCENT: "#p",
}
# Words that do not change the meaning of a statement.
LIGHT_WORDS = words(
    """
    list tree name call regular normal entire whole contain reside exist present recursive within
    below subdirectory sub locate current work system start along file directory item full complete
    respective under do use perform available beneath down descend well ago symbolic belong
    hierarchy it go result following please match whether regard end single question another
    older newer old new more less large small since before after modify
    younger longer many
    """
)
# In "the last 7 days" and "last modified", "last" has no meaning of its own.
_NOT_LAST = re.compile(r"\b(?:last|past|previous) (?=#d|modified|accessed|changed|updated)")
# One word for each group of synonyms in system administration.
_CANONICAL = {
    "begin": "start", "bigger": "more", "change": "modify", "conf": "configuration",
    "config": "configuration", "consumption": "usage", "contents": "content", "count": "number",
    "db": "database", "dir": "directory", "display": "list", "erase": "delete",
    "filename": "name", "filesystem": "system", "find": "list", "finish": "end",
    "folder": "directory", "get": "list", "greater": "more", "have": "contain",
    "hostname": "host", "include": "contain", "journal": "log", "large": "more",
    "locate": "list", "logfile": "log", "look": "list", "machine": "host", "make": "create",
    "modification": "modify", "older": "more", "ownership": "owner", "pathname": "path",
    "pattern": "string", "permission": "mode", "print": "list", "purge": "delete",
    "quantity": "number", "ram": "memory", "recursively": "recursive", "remove": "delete",
    "rename": "move", "repo": "repository", "search": "list", "show": "list", "small": "less",
    "smaller": "less", "subfolder": "subdirectory", "symlink": "link", "terminate": "kill",
    "update": "modify", "username": "user", "utilisation": "usage", "utilization": "usage",
    "view": "list", "word": "string",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class StatementProfile:
    """The data that the rules need about a statement."""

    text: str  # in lower case, with single spaces and no final period
    literals: tuple[Literal, ...]
    words: frozenset[str]  # words other than literals, in base form
    actions: frozenset[str]
    objects: frozenset[str]
    marks: frozenset[str]
    is_cut: bool  # the text is too long, so its end was not read


def analyse(text: str) -> StatementProfile:
    """Return the profile of a statement. Recent results are cached."""
    analyse_it = _analyse_usual if len(text) <= _USUAL else _analyse_long
    return analyse_it(text[:LONGEST], len(text) > LONGEST)


def _analyse(text: str, is_cut: bool) -> StatementProfile:
    tokens = split_tokens(text)
    literals = literals_of(tokens)
    skeleton = _skeleton(tokens, literals)
    plain = " ".join(text.lower().split()).rstrip(".!? ")
    return StatementProfile(
        text=plain,
        literals=literals,
        words=_content_words(skeleton),
        actions=actions_of(tokens, skeleton),
        objects=objects_of(tokens),
        marks=marks_of(skeleton),
        is_cut=is_cut,
    )


# Profiles of long texts use a lot of memory, so the cache holds only as many as one comparison needs.
_USUAL = 400  # characters
_analyse_usual = lru_cache(maxsize=4096)(_analyse)
_analyse_long = lru_cache(maxsize=16)(_analyse)


def _skeleton(tokens: Sequence[Token], literals: Sequence[Literal]) -> str:
    """Return the statement in lower case, with a placeholder for each firm literal."""
    parts: list[str] = []
    position = 0
    for token in tokens:
        while position < len(literals) and literals[position].end <= token.start:
            position += 1
        literal = literals[position] if position < len(literals) else None
        if literal is None or token.end <= literal.start:
            parts.append(token.lower)
        elif token.start <= literal.start:  # the first token represents the whole literal
            parts.append(_SIGNS.get(literal.kind, "#x") if _is_sign(literal) else token.lower)
        elif not _is_sign(literal):
            parts.append(token.lower)
        if token.ends_clause:
            parts.append(",")
    return " ".join(parts).replace(" ,", ",")


def _is_sign(literal: Literal) -> bool:
    if literal.text.lower() in ORDINAL_WORDS:
        return False
    measured = (Kind.DURATION, Kind.NUMBER, Kind.SIZE, Kind.GLOB)
    return literal.firm or literal.kind in measured


def _content_words(skeleton: str) -> frozenset[str]:
    found = set()
    skeleton = _NOT_LAST.sub(" ", skeleton)
    for part in skeleton.replace("/", " ").replace("-", " ").split():
        word = part.strip(",.:;!?'’()")
        if word and not word.startswith("#") and word not in STOP_WORDS:
            found.add(canonical(word))
    return frozenset(found)


def canonical(word: str) -> str:
    """Return the word that represents all inflections and synonyms of a lower-case word."""
    base = lemma(word)
    return _CANONICAL.get(base, base)
