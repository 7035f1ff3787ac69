"""Compare a statement with an entry, to find agreements and contradictions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from catalog.relevance.agreement import Agreement, compare_literals
from catalog.relevance.statement.actions import agreeing, disagree, strong, unmatched
from catalog.relevance.statement.argument_order import find_turned
from catalog.relevance.statement.literals import Literal
from catalog.relevance.statement.named_things import ROLES
from catalog.relevance.statement.negations import denied_here_only
from catalog.relevance.statement.objects import OBJECTS
from catalog.relevance.statement.profiles import LIGHT_WORDS, StatementProfile, analyse, canonical
from catalog.relevance.statement.qualifiers import half_agreed, lone_axes, opposed
from catalog.relevance.statement.scope import has_other_scope
from catalog.relevance.statement.scripts import analyse_script
from catalog.relevance.statement.sorting import sorts_otherwise
from catalog.relevance.statement.token_shapes import Kind
from catalog.relevance.statement.verbs import PHRASAL_VERBS
from catalog.relevance.statement.vocabulary import lemma, words
from catalog.relevance.types import Candidate

# On these axes, a missing mark has a meaning, too: "files" are not "empty files", and "lines" are not "last lines".
TELLING_AXES = words(
    "fill flow state sight may rank end not except parity case size age per where choice column"
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison of a statement with a candidate, used by the rules, the model and the explanations."""

    statement: StatementProfile
    phrasing: StatementProfile
    literals: Agreement
    opposed_marks: tuple[tuple[str, str], ...]
    lone_axes: frozenset[str]
    is_contrary: bool  # the verbs contradict each other
    unasked: frozenset[str]  # verbs of the entry that are not in the statement
    unoffered: frozenset[str]  # verbs of the statement that are not in the entry
    other_objects: bool  # for example files on one side and directories on the other
    other_reach: bool  # only one side is recursive or includes files
    statement_words: frozenset[str]  # without words that literals, parameters or verbs explain
    entry_words: frozenset[str]
    only_statement: frozenset[str]  # significant words that are not in the entry
    only_entry: frozenset[str]
    other_scope: bool  # the script searches different places or file types than the statement says
    turned: tuple[str, ...]  # two words in reversed order, as in "http to https"
    other_roles: tuple[Literal, ...]  # for example a user in the statement and a group in the entry
    other_units: tuple[Literal, ...]  # for example lines in the statement and files in the entry
    denied: str  # a word that only one side negates, or empty
    half_agreed: frozenset[str]  # axes on which the sides share some marks, but not all
    other_order: bool  # the script sorts in the opposite direction
    other_letters: tuple[str, ...]  # words with a different case in the script, such as ERROR
    is_identical: bool  # equals a phrasing, ignoring spaces and the final period
    is_alike: bool  # equals the phrasing, also ignoring case, quotes and articles

    @property
    def opposes(self) -> bool:
        """Return whether statement and entry contradict each other in verb, direction, negation or object."""
        opposed = self.opposed_marks or "not" in self.lone_axes
        return bool(self.is_contrary or opposed or self.other_objects)

    @property
    def is_one_sided(self) -> bool:
        """Return whether only one side has additional words, as in "delete" and "delete after asking".

        Additional words on both sides are typical of paraphrases.
        """
        return not self.is_identical and bool(self.only_statement) != bool(self.only_entry)

    @property
    def does_other_things(self) -> bool:
        """Return whether the entry does more or less than the statement requests."""
        return bool(self.unasked or self.unoffered or self.other_reach)

    @property
    def has_stranger(self) -> bool:
        """Return whether one side has a word that is not ordinary English and is missing on the other side."""
        loose = (*self.literals.loose_extra, *self.literals.loose_missing)
        return any(literal.kind == Kind.NAME for literal in loose)

    @property
    def minds_other_time(self) -> bool:
        """Return whether only one side mentions a kind of time, such as modification, unless both give an age."""
        both_say_age = all(
            any(mark.startswith("age:") for mark in profile.marks)
            for profile in (self.statement, self.phrasing)
        )
        return "time" in self.lone_axes and not both_say_age

    @property
    def names_other_part(self) -> bool:
        """Return whether a name is complete on one side and only a prefix or suffix on the other."""
        plain = (Kind.TEXT, Kind.NAME)
        return "place" in self.lone_axes and any(
            mine.kind in plain and theirs.kind in plain for mine, theirs in self.literals.same
        )

    @property
    def is_open(self) -> bool:
        """Return whether a difference prevents a match, regardless of the model's confidence."""
        says_nothing = not self.statement.words and not self.is_identical
        return bool(
            says_nothing
            or self.literals.conflicts
            or self.lone_axes & TELLING_AXES
            or self.minds_other_time
            or self.names_other_part
            or self.has_stranger
            or self.does_other_things
            or self.is_one_sided
            or self.other_letters
            or self.other_units
            or self.other_roles
            or self.turned
            or self.half_agreed
            or self.denied
            or (self.other_order and not self.is_identical)
            or (self.other_scope and not (self.is_identical or self.is_alike))
        )


def compare(text: str, candidate: Candidate) -> Comparison:
    """Compare a statement with a candidate. An identical phrasing takes precedence over the nearest phrasing."""
    identical = _find_identical(text, candidate)
    if identical is not None:
        candidate = replace(candidate, phrasing=identical)
    is_alike = _reduce(text) == _reduce(candidate.phrasing)
    statement, phrasing = analyse(text), analyse(candidate.phrasing)
    script = analyse_script(candidate.script)
    known = phrasing.actions | script.actions
    literals = compare_literals(statement, candidate)
    lone = lone_axes(statement.marks, phrasing.marks)
    accounted = frozenset(_accounted(statement, phrasing, literals, candidate))
    statement_words, entry_words = statement.words - accounted, phrasing.words - accounted
    only_statement = _strays(statement_words - entry_words, phrasing, literals.loose_extra)
    return Comparison(
        statement=statement,
        phrasing=phrasing,
        literals=literals,
        opposed_marks=tuple(opposed(statement.marks, phrasing.marks)),
        lone_axes=lone,
        is_contrary=disagree(statement.actions, phrasing.actions),
        unasked=unmatched(phrasing.actions, statement.actions),
        unoffered=unmatched(statement.actions, known if phrasing.actions else frozenset()),
        other_objects=bool(statement.objects and phrasing.objects)
        and not statement.objects & phrasing.objects,
        other_reach=_reach_differs(statement, phrasing, lone),
        statement_words=statement_words,
        entry_words=entry_words,
        only_statement=only_statement - script.pieces,
        only_entry=_strays(entry_words - statement_words, statement, literals.loose_missing),
        other_scope=not candidate.parameters
        and has_other_scope(statement, script, candidate.script),
        turned=() if identical or is_alike else find_turned(text, candidate.phrasing),
        other_roles=tuple(_other_roles(literals)),
        other_units=tuple(_other_units(text, candidate.phrasing, literals)),
        denied="" if identical or is_alike else denied_here_only(text, candidate.phrasing),
        half_agreed=half_agreed(statement.marks, phrasing.marks),
        other_order=sorts_otherwise(statement.marks, candidate.script),
        other_letters=_other_letters(text, candidate, statement.marks),
        is_identical=identical is not None,
        is_alike=is_alike,
    )


def _find_identical(text: str, candidate: Candidate) -> str | None:
    """Return the phrasing that equals the statement, ignoring spaces and the final period."""
    plain = _normalize(text)
    for phrasing in (candidate.phrasing, *candidate.phrasings):
        if _normalize(phrasing) == plain:
            return phrasing
    return None


def _normalize(text: str) -> str:
    return " ".join(text.split()).rstrip(".!? ")


def _other_roles(literals: Agreement) -> Iterator[Literal]:
    """Yield the statement's names that have a different role in the entry, such as a group instead of a user."""
    for mine, theirs in literals.same:
        roles = {mine.role, theirs.role}
        if len(roles) == 2 and roles <= _EXCLUSIVE:
            yield mine


def _other_units(text: str, phrasing: str, literals: Agreement) -> Iterator[Literal]:
    """Yield the statement's numbers that count something else in the entry."""
    for mine, theirs in literals.same:
        if mine.kind == Kind.NUMBER:
            counted, others = _counted(text[mine.end :]), _counted(phrasing[theirs.end :])
            if counted and others and counted != others:
                yield mine


def _counted(rest: str) -> str:
    """Return the kind of object that the number before `rest` counts, or an empty string."""
    following = _WORD.match(rest.lstrip())
    kind = OBJECTS.get(lemma(following[0].lower()), "") if following else ""
    return "" if kind in _UNCOUNTED else kind


def _other_letters(text: str, candidate: Candidate, marks: frozenset[str]) -> tuple[str, ...]:
    """Return the statement's words that both the phrasing and the script spell in a different case.

    Ignore initial capitals and texts in all capitals, because they are a matter of style.
    """
    if "case:any" in marks or text.isupper() or candidate.phrasing.isupper():
        return ()
    asked, known = set(_WORD.findall(text)), set(_WORD.findall(candidate.phrasing))
    scripted = set(_WORD.findall(candidate.script))
    lowered = {word.lower(): word for word in known - asked if word in scripted}
    return tuple(
        sorted(
            word
            for word in asked - known - scripted
            if (other := lowered.get(word.lower())) and (_shouts(word) or _shouts(other))
        )
    )


def _shouts(word: str) -> bool:
    """Return whether the word has capitals after its first letter."""
    return word[1:] != word[1:].lower()


def _reduce(text: str) -> list[str]:
    plain = _normalize(text).translate(_QUOTES).lower().replace("folder", "directory")
    return [word for word in plain.split() if word not in ("a", "an", "the")]


# A name has only one of these roles. Other roles may share a name, such as a process and its service.
_EXCLUSIVE = frozenset({"user", "group", "host", "database", "container", "branch", "package"})
_UNCOUNTED = frozenset({"memory", "cpu"})
_WORD = re.compile(r"[^\W\d_][\w-]+")
_QUOTES = str.maketrans("", "", "\"'`“”‘’")


def _accounted(
    statement: StatementProfile,
    phrasing: StatementProfile,
    literals: Agreement,
    candidate: Candidate,
) -> Iterator[str]:
    """Yield the words that matching literals, parameters and verbs explain."""
    roles = {literal.role for pair in literals.same for literal in pair if literal.role}
    for parameter in candidate.parameters:
        named = {word.lower() for word in re.findall(r"[A-Za-z]+", parameter.name)}
        yield from map(canonical, named)
        roles |= {ROLES[word] for word in named if word in ROLES}
    yield from (word for word, role in ROLES.items() if role in roles)
    yield from (canonical(value.lower()) for value in literals.fills.values())
    shared = agreeing(statement.actions, phrasing.actions)
    shared |= agreeing(phrasing.actions, statement.actions)
    yield from map(canonical, strong(shared))
    for parts, verb in PHRASAL_VERBS.items():
        if verb in shared:
            yield from parts


def _strays(
    lone: frozenset[str], other: StatementProfile, loose: Iterable[Literal]
) -> frozenset[str]:
    """Return the significant words that are missing on the other side, and the loose numbers and names."""
    said = {
        part.strip("*.") for literal in other.literals for part in literal.value.lower().split("/")
    }
    found = {literal.value for literal in loose if literal.kind != Kind.PATH}
    return frozenset(found | (lone - LIGHT_WORDS - said))


def _reach_differs(
    statement: StatementProfile, phrasing: StatementProfile, lone: frozenset[str]
) -> bool:
    """Return whether only one side includes files, or only one side is recursive and changes something."""
    places = frozenset({"file", "directory"})
    if {statement.objects & places, phrasing.objects & places} == {
        places,
        frozenset({"directory"}),
    }:
        return True
    actions = statement.actions | phrasing.actions
    changes = bool(strong(actions)) or not actions
    return changes and "depth" in lone and "recursive" in statement.words ^ phrasing.words
