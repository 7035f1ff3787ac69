"""Check that rules account for every word of a statement, so that no word is ignored silently."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pipeline.standin.language.idioms import load_idioms
from pipeline.standin.language.marked_text import MarkedText
from pipeline.standin.language.statement_comparison import CLAUSE, stem

_IDIOMS = load_idioms()
_FILLERS = frozenset(_IDIOMS.fillers.split())
_PREPOSITIONS = frozenset(_IDIOMS.prepositions.split())
_FOREIGN = frozenset(_IDIOMS.foreign_words.split())
_SMALL = frozenset(_IDIOMS.small_words.split()) | _FILLERS | _PREPOSITIONS
# Words that negate a sentence. Only a phrase that contains the negation accounts for it.
NEGATIONS = frozenset(_IDIOMS.negations.split())

# Such requests need a scheduler, because a script runs immediately.
_LATER = re.compile(
    r"\b(?:every|each|once an?|once per) (?:\w+ )?(?:second|minute|hour|day|night|morning|evening|week|weekday|month|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day)s?\b"
    r"|\b(?:tomorrow|tonight|later|midnight|noon|regularly|periodically|next (?:week|month|night|monday))\b"
    r"|\b(?:at|from|until|by) (?:\d{1,2}:\d{2}|\d{1,2} ?(?:am|pm|o['’]clock))(?!\w)"
    r"|\b(?:daily|nightly|hourly|weekly|monthly)\W*$"
    r"|^\W*in (?:\d+|an?|one|two|half an?) (?:minutes?|hours?|days?)\b"
    r"|\b(?:re)?(?:start|boot|load)\b.* in (?:\d+|an?|one|two|half an?) (?:minutes?|hours?|days?)\b",
    re.IGNORECASE,
)
_PERMIT = r"chmod|(?:change|set)(?: the)? permissions?"
_OWN_MACHINE = r"\b(?:on|of|in|for) (?:this|my) (?:host|machine|server|system|computer|box)\b"


def is_for_later(statement: str) -> bool:
    """Return whether a statement asks for a later time or for a schedule."""
    return _LATER.search(statement) is not None


def is_foreign(statement: str) -> bool:
    """Return whether at least half of a statement's function words are not English."""
    words = re.findall(r"[^\W\d_]+", statement.lower())
    foreign = sum(word in _FOREIGN for word in words)
    return foreign > 0 and foreign >= sum(word in _SMALL for word in words)


def take_verbs(text: MarkedText) -> set[str]:
    """Remove the verbs that request an action, and return their names."""
    found = set()
    for name, verb in _IDIOMS.verbs.items():
        asked = _PERMIT if name == "permit" else verb.asked
        pattern = rf"(?P<lead>{CLAUSE})(?:(?:{asked})(?:s|es)?|be (?:{asked})(?:d|ed))\b"
        while text.take(pattern, kept=r"\g<lead>"):
            found.add(name)
    return found


def list_unplaced(text: MarkedText, known: Iterable[str], *, strictly: bool = False) -> list[str]:
    """Return the remaining words, except `known` words and small words.

    If `strictly`, prepositions are returned too. `known` words match in all of their forms.
    """
    text.take_all(r"(?<=\ue001)['’]s?(?!\w)")
    text.take_all(_OWN_MACHINE)
    stems = {stem(word) for word in known}
    repeated = {one.text.lower() for one in text.mentions if one.kind in ("name", "quoted")}
    left = text.words(_FILLERS if strictly else _FILLERS | _PREPOSITIONS)
    return [word for word in left if word not in repeated and stem(word) not in stems]


def list_negations(text: MarkedText) -> set[str]:
    """Return the negations among the remaining words."""
    words = text.words(())
    return {"not" if word.endswith(("n't", "n’t")) else word for word in words} & NEGATIONS
