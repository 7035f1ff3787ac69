"""What a statement denies: "do not contain", "isn't mounted"."""

from __future__ import annotations

import re

from catalog.relevance.statement.vocabulary import lemma

_DENIED = re.compile(r"\b(?:not|never|cannot|\w+n['’]t) (?:be |been |have |also |yet )?([a-z]{3,})")
_WORD = re.compile(r"[a-z]{3,}")


def denied_here_only(text: str, other: str) -> str:
    """A word that one of the texts denies and the other one says and does not deny; empty without.

    Where only one of them denies anything, the mark `not:yes` tells it already; this is for both.
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
    """What is said beside what is denied; a word may be both."""
    rest = _DENIED.sub(" ", text.lower())
    return frozenset(map(lemma, _WORD.findall(rest)))
