"""Find what a statement negates, as in "do not contain" or "isn't mounted"."""

from __future__ import annotations

import re

from catalog.relevance.statement.vocabulary import lemma

_DENIED = re.compile(r"\b(?:not|never|cannot|\w+n['’]t) (?:be |been |have |also |yet )?([a-z]{3,})")
_WORD = re.compile(r"[a-z]{3,}")


def denied_here_only(text: str, other: str) -> str:
    """Return a word that one text negates and the other affirms, or an empty string.

    Both texts must have negations. A negation in only one text is detected by the mark `not:yes`.
    """
    mine, theirs = _denied(text), _denied(other)
    if not (mine and theirs):
        return ""
    said, said_there = _said(text), _said(other)
    contradicted = (mine & (said_there - said - theirs)) | (theirs & (said - said_there - mine))
    return min(contradicted, default="")


def _denied(text: str) -> frozenset[str]:
    return frozenset(map(lemma, _DENIED.findall(text.lower())))


def _said(text: str) -> frozenset[str]:
    """Return the words outside negations. A word may be both negated and affirmed."""
    rest = _DENIED.sub(" ", text.lower())
    return frozenset(map(lemma, _WORD.findall(rest)))
