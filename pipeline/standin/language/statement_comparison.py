"""Compare a statement with a description by rule: verbs, literals, and a few phrases.

The rules compare only words. A description may match word for word although the script is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pipeline.standin.language.bounds import read_bounds
from pipeline.standin.language.idioms import load_idioms
from pipeline.standin.language.literals import Mention, find_mentions

# The positions where a verb is a request: at the start, after a conjunction or after a period.
CLAUSE = (
    r"(?:^|[,;:.(]\s|\b(?:and|then|to|please|but|that|also|should|must|will|can you|first)\b)\s*"
    r"(?:then |safely |recursively |forcefully |gracefully |also |me "
    # A negated verb is not a request, unless an exception follows.
    r"|(?:(?:do )?not|don['’]t|never) (?=.*\bunless\b))*"
)
# The positions where a description reports an action.
_SENTENCE = r"(?:^|[.;:,]\s|\b(?:and|then|that)\s)"
# Next to another verb, these verbs only say how the result is inspected.
_WEAK_VERBS = {"find", "check"}
_NO_VERB_OF_THEIR_OWN = {"find", "check", "sort", "create"}

# Kinds of literals that say what a script acts on. Numbers and quoted words may be part of a message.
_RESTRICTING = ("path", "glob", "size", "age", "name")

_SIZE_TOLERANCE = 0.08  # between 1000^3 and 1024^3

_IDIOMS = load_idioms()
_SMALL_WORDS = frozenset(_IDIOMS.small_words.split())
_VERB_WORDS = re.compile(rf"(?:{'|'.join(verb.asked for verb in _IDIOMS.verbs.values())})(?:e?s)?")
# Letters from every writing system, with combining marks.
_WORD = re.compile(r"(?:[^\W\d_][\u0300-\u036f]*){3,}")


# The prefix of the script's own comment in a description, and the separator before the details.
SUMMARY = "By its own comment: "
DETAIL = " In detail: "


class Requirement(NamedTuple):
    """A requirement of the statement. `missing` says what the description lacks."""

    kind: str
    missing: str


def list_requirements(statement: str, functionality: str) -> list[Requirement]:
    """List the concrete requirements of a statement, each with what the description lacks."""
    summary, detail = split_description(functionality)
    return [
        *_require_verbs(statement, summary, detail),
        *_require_literals(statement, detail),
        *_require_aspects(statement, detail),
        *_require_subject(statement, functionality),
    ]


def split_description(functionality: str) -> tuple[str, str]:
    """Split a description into the quoted comment and the details of the script itself.

    A comment may name the script's subject, but literals must be in the script.
    """
    if functionality.startswith(SUMMARY) and DETAIL in functionality:
        summary, _, detail = functionality.removeprefix(SUMMARY).partition(DETAIL)
        return summary, detail
    return "", functionality


def list_differences(statement: str, functionality: str) -> list[str]:
    """List the requirements that the description lacks, and dangerous actions that the statement does not ask for."""
    required = list_requirements(statement, functionality)
    differences = [found.missing for found in required if found.missing]
    _, functionality = split_description(functionality)
    allowed = allowed_verbs(statement)
    for name in _IDIOMS.dangerous:
        spelled = _IDIOMS.verbs[name].spelled
        if name not in allowed and re.search(
            rf"{_SENTENCE}{spelled}\b", functionality, re.IGNORECASE
        ):
            differences.append(f"the script {spelled}, but the request does not ask for that")
    return differences


def allowed_verbs(statement: str) -> set[str]:
    """Return the verb classes that a statement asks for, and the classes that may accompany them."""
    asked = find_verbs(statement)
    allowed = asked.union(*(_IDIOMS.allowed.get(verb, set()) for verb in asked))
    return allowed | {verb for verb, others in _IDIOMS.allowed.items() if others & asked}


def list_unasked(statement: str, functionality: str) -> list[Mention]:
    """Return the literals that restrict the described script but are not in the statement."""
    _, detail = split_description(functionality)
    named = [mention for mention in find_mentions(detail) if mention.kind in _RESTRICTING]
    return missing_literals(named, statement)


def find_verbs(statement: str) -> set[str]:
    """Return the verb classes that a statement asks for."""
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
    """Return the literals that a description does not contain in any unit."""
    # Quotations in a description (a query, a message) may contain literals.
    unquoted = functionality.replace('"', " ").replace("'", " ")
    known = [*find_mentions(functionality), *find_mentions(unquoted)]
    text = functionality.lower()
    return [
        mention
        for mention in mentions
        if not any(_is_same(mention, other) for other in known) and not _is_named(mention, text)
    ]


def content_words(text: str) -> set[str]:
    """Return the stems of the meaningful words, without verbs and small words."""
    return {
        stem(word)
        for word in _WORD.findall(text.lower())
        if word not in _SMALL_WORDS and not _VERB_WORDS.fullmatch(word)
    }


def _require_verbs(statement: str, summary: str, detail: str) -> Iterator[Requirement]:
    commented = find_verbs(summary)
    # Text that a script prints or passes on is not an action of the script.
    detail = re.sub(r'"[^"]*"', '""', detail)
    for name in sorted(find_verbs(statement)):
        lacking = f"the request asks to {name}, but the description does not say so"
        said = name in commented or _says(_IDIOMS.verbs[name].said, detail)
        yield Requirement("verb", "" if said else lacking)


def _require_literals(statement: str, functionality: str) -> Iterator[Requirement]:
    """Report each missing literal, with an unrequested literal of the same kind if the description has one."""
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
        lacking = f"the request says {mention.text}, but the description {rest}"
        yield Requirement(mention.kind, lacking)


def _require_aspects(statement: str, functionality: str) -> Iterator[Requirement]:
    bounds = {(bound.mention.kind, bound.side) for bound in read_bounds(statement)}
    for aspect in _IDIOMS.aspects:
        if aspect.bound in bounds or re.search(aspect.asked, statement, re.IGNORECASE):
            said = re.search(aspect.said, functionality, re.IGNORECASE)
            lacking = f"the request asks for {aspect.name}, but the description does not include it"
            yield Requirement("aspect", "" if said else lacking)


def _require_subject(statement: str, functionality: str) -> Iterator[Requirement]:
    """If a statement has no literal, require at least one of its nouns."""
    subject = content_words(statement)
    if subject and not find_mentions(statement):
        words = [word for word in _WORD.findall(statement.lower()) if stem(word) in subject]
        lacking = f"the request is about {', '.join(words)}, but the description is not"
        yield Requirement("subject", "" if subject & content_words(functionality) else lacking)


def _is_same(mention: Mention, other: Mention) -> bool:
    """Return whether two literals have the same value. MB and MiB count as the same unit."""
    if mention.kind == other.kind == "size":
        return abs(int(mention.value) - int(other.value)) <= _SIZE_TOLERANCE * int(mention.value)
    return mention.key == other.key


def _is_named(mention: Mention, text: str) -> bool:
    """Return whether a lowercase description contains the literal's text. Sizes and ages must be compared by value."""
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
    """Return the approximate stem of a word."""
    for ending in ("ies", "ing", "es", "ed", "s", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending).rstrip("e")
    return word.rstrip("e")


def _says(words: str, functionality: str) -> bool:
    return re.search(rf"(?<!\w)(?:{words})(?!\w)", functionality, re.IGNORECASE) is not None
