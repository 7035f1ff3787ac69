"""Find the actions that a statement requests, as verbs in their base form."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from catalog.relevance.statement.objects import OBJECTS
from catalog.relevance.statement.tokens import Token
from catalog.relevance.statement.verbs import PHRASAL_VERBS, VERBS
from catalog.relevance.statement.vocabulary import lemma, words

_COUNTING = re.compile(
    r"\bhow many\b|\bcount of\b"
    r"|(?:^|\b(?:print|show|display|list|get|output|report|find|return|give|tell|and)s? |, )"
    r"(?:out |only |the |total |me )*number of (?!#)"
)
_MAKING = re.compile(
    r"\b(?:create|make|take|generate)s? (?:an?|the) (?:\S+ ){0,3}?"
    r"(?P<what>archive|tarball|backup|copy|snapshot)\b"
)
# Forms in -ing that describe something and request no action.
_DESCRIBING = words(
    "starting running including existing matching containing ending following setting missing using"
)
_NEGATING = words("not never don't doesn't without no")
_LEADING = words(
    "please can you how to do i want need we should must let us now just first then also and it "
    "them gnu linux specific specifically mac os x bash only would like not don't never could force"
)
_OPENING = words("if when whenever once after before in on for gnu as")
_CONNECTING = words("and then to or but also & it them by finally")


def actions_of(tokens: Sequence[Token], skeleton: str) -> frozenset[str]:
    """Return a statement's verbs. `skeleton` is the statement's text without its literals.

    Only imperatives at the start or after a conjunction or a comma are included. "Deleted files" and "the backup
    directory" request no action.
    """
    found = set(_verbs(tokens))
    if _COUNTING.search(skeleton):
        found.add("count")
    if made := _MAKING.search(skeleton):
        found -= {"create", "make", "take", "generate"}
        found.add(made["what"].replace("tarball", "archive"))
    return frozenset(found)


def _verbs(tokens: Sequence[Token]) -> Iterator[str]:
    may_start = True
    has_clause = bool(tokens) and tokens[0].lower in _OPENING  # as in "if the disk is full, delete"
    for position, token in enumerate(tokens):
        following = tokens[position + 1].lower if position + 1 < len(tokens) else ""
        verb = _as_verb(token, following)
        if verb and may_start and not (position and tokens[position - 1].lower in _NEGATING):
            has_clause = True
            yield verb
        word = token.lower
        goes_on = may_start and (word in _LEADING or word.endswith("ly"))
        joins = token.ends_clause or (not token.is_quoted and word in _CONNECTING)
        # Without a preceding verb, the joined words are a list, as in "role, link status and offsets".
        may_start = (joins and (has_clause or goes_on)) or (not token.is_quoted and goes_on)


def _as_verb(token: Token, following: str) -> str:
    """Return the base form of a token that is a verb (base form, third person or -ing form), or an empty string."""
    if not token.is_word:
        return ""
    word = token.lower
    if (word, following) in PHRASAL_VERBS:
        return PHRASAL_VERBS[word, following]
    if word == "lower" and following == "case":
        return ""
    if word in VERBS:
        return word
    if word.endswith(("s", "ing")) and word not in _DESCRIBING:
        base = lemma(word)
        if base in VERBS and not (word.endswith("s") and base in OBJECTS):
            return base
        bare = word.removesuffix("s")
        return bare if bare in VERBS and bare not in OBJECTS else ""
    return ""


def agree(verb: str, other: str) -> bool:
    """Return whether two verbs may mean the same action."""
    return bool(VERBS[verb] & VERBS[other])


def disagree(some: frozenset[str], others: frozenset[str]) -> bool:
    """Return whether both sides request actions, but the actions do not match.

    Verbs of looking are ignored if a stronger verb is present, so "find and delete" agrees with "delete".
    """
    some, others = strong(some) or some, strong(others) or others
    return bool(some and others) and not agreeing(some, others)


def agreeing(some: frozenset[str], others: frozenset[str]) -> frozenset[str]:
    """Return the verbs of `some` that match a verb of `others`."""
    return frozenset(verb for verb in some if any(agree(verb, other) for other in others))


def unmatched(some: frozenset[str], others: frozenset[str]) -> frozenset[str]:
    """Return the verbs of `some`, except verbs of looking, that match no verb of `others`.

    If `others` is empty, return an empty set.
    """
    return strong(some) - agreeing(some, others) if others else frozenset()


def strong(verbs: frozenset[str]) -> frozenset[str]:
    """Return the verbs that request more than looking at something."""
    return frozenset(verb for verb in verbs if "look" not in VERBS[verb])


def say(verbs: Iterable[str]) -> str:
    """Format verbs for users, as in "copy and delete"."""
    return " and ".join(sorted(verbs))
