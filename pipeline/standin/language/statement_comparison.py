"""Compare a statement with a description by rule: verbs, literals, and a few turns of phrase.

It sees what words can show and no more: a description may match word for word and still be of a
wrong script.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pipeline.standin.language.bounds import read_bounds
from pipeline.standin.language.idioms import load_idioms
from pipeline.standin.language.literals import Mention, find_mentions

# Where a verb asks for something: at the start, after a joining word or a stop.
CLAUSE = (
    r"(?:^|[,;:.(]\s|\b(?:and|then|to|please|but|that|also|should|must|will|can you|first)\b)\s*"
    r"(?:then |safely |recursively |forcefully |gracefully |also |me "
    # What is not to be done is no order, except where an exception follows.
    r"|(?:(?:do )?not|don['’]t|never) (?=.*\bunless\b))*"
)
# Where a description says that something is done.
_SENTENCE = r"(?:^|[.;:,]\s|\b(?:and|then|that)\s)"
# Asked beside another verb, these only say how the result is looked at.
_WEAK_VERBS = {"find", "check"}
_NO_VERB_OF_THEIR_OWN = {"find", "check", "sort", "create"}

# Kinds of literals that say what a script acts on; numbers and quoted words may be part of a message.
_RESTRICTING = ("path", "glob", "size", "age", "name")

_SIZE_TOLERANCE = 0.08  # between 1000^3 and 1024^3

_IDIOMS = load_idioms()
_SMALL_WORDS = frozenset(_IDIOMS.small_words.split())
_VERB_WORDS = re.compile(rf"(?:{'|'.join(verb.asked for verb in _IDIOMS.verbs.values())})(?:e?s)?")
# Letters of every language, each with its marks where it was typed as several characters.
_WORD = re.compile(r"(?:[^\W\d_][\u0300-\u036f]*){3,}")


# How a description quotes the script's comment; what it says in detail begins after that.
SUMMARY = "By its own comment: "
DETAIL = " In detail: "


class Requirement(NamedTuple):
    """One thing that the statement asks for, and what the description lacks of it, if anything."""

    kind: str
    missing: str


def list_requirements(statement: str, functionality: str) -> list[Requirement]:
    """Everything concrete that the statement asks for, with what the description lacks of it."""
    summary, detail = split_description(functionality)
    return [
        *_require_verbs(statement, summary, detail),
        *_require_literals(statement, detail),
        *_require_aspects(statement, detail),
        *_require_subject(statement, functionality),
    ]


def split_description(functionality: str) -> tuple[str, str]:
    """What a description quotes of the script's comment, and what it says of the script itself.

    A comment may say what the script is about; literals have to be found in the script.
    """
    if functionality.startswith(SUMMARY) and DETAIL in functionality:
        summary, _, detail = functionality.removeprefix(SUMMARY).partition(DETAIL)
        return summary, detail
    return "", functionality


def list_differences(statement: str, functionality: str) -> list[str]:
    """What is asked for and not described, and what is described and not asked for; concrete."""
    required = list_requirements(statement, functionality)
    differences = [found.missing for found in required if found.missing]
    _, functionality = split_description(functionality)
    allowed = allowed_verbs(statement)
    for name in _IDIOMS.dangerous:
        spelled = _IDIOMS.verbs[name].spelled
        if name not in allowed and re.search(
            rf"{_SENTENCE}{spelled}\b", functionality, re.IGNORECASE
        ):
            differences.append(
                f"the description says that it {spelled}; the statement does not ask for that"
            )
    return differences


def allowed_verbs(statement: str) -> set[str]:
    """The verb classes that a statement asks for, and those that may be part of them."""
    asked = find_verbs(statement)
    allowed = asked.union(*(_IDIOMS.allowed.get(verb, set()) for verb in asked))
    return allowed | {verb for verb, others in _IDIOMS.allowed.items() if others & asked}


def list_unasked(statement: str, functionality: str) -> list[Mention]:
    """What a description acts on or leaves out and the statement does not name: a pattern, a path, an age."""
    _, detail = split_description(functionality)
    named = [mention for mention in find_mentions(detail) if mention.kind in _RESTRICTING]
    return missing_literals(named, statement)


def find_verbs(statement: str) -> set[str]:
    """The verb classes that a statement asks for."""
    found = {
        name
        for name, verb in _IDIOMS.verbs.items()
        if re.search(
            rf"{CLAUSE}(?:(?:{verb.asked})(?:s|es)?|be (?:{verb.asked})(?:d|ed))\b"
            rf"|\bbefore (?:{verb.asked})ing\b",
            statement,
            re.IGNORECASE,
        )
    }
    return found - _WEAK_VERBS if found - _NO_VERB_OF_THEIR_OWN else found


def missing_literals(mentions: Iterable[Mention], functionality: str) -> list[Mention]:
    """Those literals that a description does not name, in whatever unit."""
    # What a description quotes (a query, a message) may hold literals of its own.
    unquoted = functionality.replace('"', " ").replace("'", " ")
    known = [*find_mentions(functionality), *find_mentions(unquoted)]
    text = functionality.lower()
    return [
        mention
        for mention in mentions
        if not any(_is_same(mention, other) for other in known) and not _is_named(mention, text)
    ]


def content_words(text: str) -> set[str]:
    """The stems of the words that carry meaning, without verbs and small words."""
    return {
        stem(word)
        for word in _WORD.findall(text.lower())
        if word not in _SMALL_WORDS and not _VERB_WORDS.fullmatch(word)
    }


def _require_verbs(statement: str, summary: str, detail: str) -> Iterator[Requirement]:
    commented = find_verbs(summary)
    # What a script prints or passes on in quotes is not what it does.
    detail = re.sub(r'"[^"]*"', '""', detail)
    for name in sorted(find_verbs(statement)):
        lacking = f"the statement asks to {name}; the description does not say that it does"
        said = name in commented or _says(_IDIOMS.verbs[name].said, detail)
        yield Requirement("verb", "" if said else lacking)


def _require_literals(statement: str, functionality: str) -> Iterator[Requirement]:
    """A literal that is missing is told beside one of its kind that nobody asked for."""
    asked = find_mentions(statement)
    missing = missing_literals(asked, functionality)
    spare = missing_literals(find_mentions(functionality), statement)
    for mention in asked:
        if mention not in missing:
            yield Requirement(mention.kind, "")
            continue
        other = next((found for found in spare if found.kind == mention.kind), None)
        spare = [found for found in spare if found is not other]
        rest = f"says {other.text}" if other else "does not mention it"
        lacking = f"the statement says {mention.text}; the description {rest}"
        yield Requirement(mention.kind, lacking)


def _require_aspects(statement: str, functionality: str) -> Iterator[Requirement]:
    bounds = {(bound.mention.kind, bound.side) for bound in read_bounds(statement)}
    for aspect in _IDIOMS.aspects:
        if aspect.bound in bounds or re.search(aspect.asked, statement, re.IGNORECASE):
            said = re.search(aspect.said, functionality, re.IGNORECASE)
            lacking = f"the statement asks for {aspect.name}; the description does not say so"
            yield Requirement("aspect", "" if said else lacking)


def _require_subject(statement: str, functionality: str) -> Iterator[Requirement]:
    """Where a statement names nothing concrete, at least one of its nouns has to come back."""
    subject = content_words(statement)
    if subject and not find_mentions(statement):
        words = [word for word in _WORD.findall(statement.lower()) if stem(word) in subject]
        lacking = f"the statement is about {', '.join(words)}; the description is not"
        yield Requirement("subject", "" if subject & content_words(functionality) else lacking)


def _is_same(mention: Mention, other: Mention) -> bool:
    """Whether two literals mean the same; megabytes of either kind do."""
    if mention.kind == other.kind == "size":
        return abs(int(mention.value) - int(other.value)) <= _SIZE_TOLERANCE * int(mention.value)
    return mention.key == other.key


def _is_named(mention: Mention, text: str) -> bool:
    """Whether a lower-case description has the literal word for word; measures need their unit."""
    if mention.kind in ("size", "age"):
        return False
    shown = mention.text.lower().rstrip("/") or "/"
    if mention.kind == "glob":
        shown = shown.strip("*")
    if mention.kind in ("glob", "quoted") and shown in text:
        return True
    before = r"\w-" if mention.kind == "name" else r"\w/-"
    return re.search(rf"(?<![{before}]){re.escape(shown)}(?![\w-])", text) is not None


def stem(word: str) -> str:
    """A word without its ending, roughly: enough to know its forms from other words."""
    for ending in ("ies", "ing", "es", "ed", "s", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending).rstrip("e")
    return word.rstrip("e")


def _says(words: str, functionality: str) -> bool:
    return re.search(rf"(?<!\w)(?:{words})(?!\w)", functionality, re.IGNORECASE) is not None
