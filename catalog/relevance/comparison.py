"""A statement beside an entry: what the two share and in what they contradict each other."""

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

# Axes on which silence is an answer, too: "files" are not "empty files", "lines" not "last lines".
TELLING_AXES = words(
    "fill flow state sight may rank end not except parity case size age per where choice column"
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A statement beside a candidate: all that rules, model and explanation go by."""

    statement: StatementProfile
    phrasing: StatementProfile
    literals: Agreement
    opposed_marks: tuple[tuple[str, str], ...]
    lone_axes: frozenset[str]
    is_contrary: bool  # the verbs contradict each other
    unasked: frozenset[str]  # verbs of the entry beyond the statement
    unoffered: frozenset[str]  # verbs of the statement beyond the entry
    other_objects: bool  # files here, directories there
    other_reach: bool  # one works recursively or on files, too, the other does not
    statement_words: frozenset[str]  # less what roles, parameters and agreeing verbs account for
    entry_words: frozenset[str]
    only_statement: frozenset[str]  # words of weight that the entry does not have
    only_entry: frozenset[str]
    other_scope: bool  # the script looks at other places or kinds of files than the statement says
    turned: tuple[str, ...]  # two words that have changed places: http to https
    other_roles: tuple[Literal, ...]  # names of a user here, of a group there
    other_units: tuple[Literal, ...]  # numbers of lines here, of files there
    denied: str  # a word that one denies and the other says
    half_agreed: frozenset[str]  # axes: one says what the other says, and more
    other_order: bool  # the script sorts the other way round than the statement says
    other_letters: tuple[str, ...]  # words that the script has in other letters: ERROR is not error
    is_identical: bool  # to one of the phrasings, but for spaces and the last full stop
    is_alike: bool  # to the phrasing, but for case, quotes and articles, too

    @property
    def opposes(self) -> bool:
        """Whether they contradict each other in verb, direction, negation or object."""
        opposed = self.opposed_marks or "not" in self.lone_axes
        return bool(self.is_contrary or opposed or self.other_objects)

    @property
    def is_one_sided(self) -> bool:
        """Whether one says all that the other says, and more: "delete", "delete after asking".

        Other words on both sides are how a paraphrase looks; more words on one side are not.
        """
        return not self.is_identical and bool(self.only_statement) != bool(self.only_entry)

    @property
    def does_other_things(self) -> bool:
        """Whether the entry does more or less than what is asked for."""
        return bool(self.unasked or self.unoffered or self.other_reach)

    @property
    def has_stranger(self) -> bool:
        """Whether one has a word that is no ordinary English, and the other does not know it."""
        loose = (*self.literals.loose_extra, *self.literals.loose_missing)
        return any(literal.kind == Kind.NAME for literal in loose)

    @property
    def minds_other_time(self) -> bool:
        """Whether only one speaks of change or access, and that is not how it says an age."""
        both_say_age = all(
            any(mark.startswith("age:") for mark in profile.marks)
            for profile in (self.statement, self.phrasing)
        )
        return "time" in self.lone_axes and not both_say_age

    @property
    def names_other_part(self) -> bool:
        """Whether a name is whole in one and the beginning or end of a name in the other."""
        plain = (Kind.TEXT, Kind.NAME)
        return "place" in self.lone_axes and any(
            mine.kind in plain and theirs.kind in plain for mine, theirs in self.literals.same
        )

    @property
    def is_open(self) -> bool:
        """Whether something has to be changed before the entry could be the answer."""
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
    """Compare a statement with a candidate: with the phrasing it repeats, else the nearest one."""
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
    """The phrasing that is the statement but for spaces and the last full stop."""
    plain = _normalise(text)
    for phrasing in (candidate.phrasing, *candidate.phrasings):
        if _normalise(phrasing) == plain:
            return phrasing
    return None


def _normalise(text: str) -> str:
    return " ".join(text.split()).rstrip(".!? ")


def _other_roles(literals: Agreement) -> Iterator[Literal]:
    """The statement's names of what is another kind of thing in the entry."""
    for mine, theirs in literals.same:
        roles = {mine.role, theirs.role}
        if len(roles) == 2 and roles <= _EXCLUSIVE:
            yield mine


def _other_units(text: str, phrasing: str, literals: Agreement) -> Iterator[Literal]:
    """The statement's numbers that count one kind of thing here and another one there."""
    for mine, theirs in literals.same:
        if mine.kind == Kind.NUMBER:
            counted, others = _counted(text[mine.end :]), _counted(phrasing[theirs.end :])
            if counted and others and counted != others:
                yield mine


def _counted(rest: str) -> str:
    """What a number counts that stands before `rest`, where it is a kind of thing."""
    following = _WORD.match(rest.lstrip())
    kind = OBJECTS.get(lemma(following[0].lower()), "") if following else ""
    return "" if kind in _UNCOUNTED else kind


def _other_letters(text: str, candidate: Candidate, marks: frozenset[str]) -> tuple[str, ...]:
    """Words in capitals that phrasing and script both have, and only in other letters.

    A capital at the beginning of a word is a matter of style, and so is a text all in capitals.
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
    """Whether there are capitals in it beyond the first letter."""
    return word[1:] != word[1:].lower()


def _reduce(text: str) -> list[str]:
    plain = _normalise(text).translate(_QUOTES).lower().replace("folder", "directory")
    return [word for word in plain.split() if word not in ("a", "an", "the")]


# What a name can be of, and is then of nothing else; a process may well have the name of its service.
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
    """The words that say what agrees already: roles of literals, parameters, verbs."""
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
    """The words of weight that the other does not have, and the loose numbers and names."""
    said = {
        part.strip("*.") for literal in other.literals for part in literal.value.lower().split("/")
    }
    found = {literal.value for literal in loose if literal.kind != Kind.PATH}
    return frozenset(found | (lone - LIGHT_WORDS - said))


def _reach_differs(
    statement: StatementProfile, phrasing: StatementProfile, lone: frozenset[str]
) -> bool:
    """Whether only one is about files, too, or recursive where it does more than look."""
    places = frozenset({"file", "directory"})
    if {statement.objects & places, phrasing.objects & places} == {
        places,
        frozenset({"directory"}),
    }:
        return True
    actions = statement.actions | phrasing.actions
    changes = bool(strong(actions)) or not actions
    return changes and "depth" in lone and "recursive" in statement.words ^ phrasing.words
