"""Does an entry answer a statement? What the two are compared by, and how it is weighed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache

from catalog.relevance.actions import Action, disagree, unmatched
from catalog.relevance.agreement import Agreement, compare_literals
from catalog.relevance.literals import Literal
from catalog.relevance.marks import lone_axes, opposed
from catalog.relevance.profiles import LIGHT_WORDS, StatementProfile, analyse
from catalog.relevance.scripts import analyse_script
from catalog.relevance.shapes import Kind
from catalog.relevance.types import Candidate

# Axes on which silence is an answer, too: "files" are not "empty files", "lines" not "last lines".
TELLING_AXES = frozenset(
    {"fill", "flow", "state", "sight", "may", "rank", "end", "not", "parity", "case"}
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
    unasked: frozenset[Action]  # actions of the entry beyond the statement
    unoffered: frozenset[Action]  # actions of the statement beyond the entry
    other_objects: bool  # files here, directories there
    only_statement: frozenset[str]  # words of weight that the entry does not have
    only_entry: frozenset[str]
    is_identical: bool  # to one of the phrasings, but for case and spaces

    @property
    def opposes(self) -> bool:
        """Whether direction, negation or object rule a match out."""
        return bool(self.opposed_marks or self.lone_axes & TELLING_AXES or self.other_objects)

    @property
    def is_one_sided(self) -> bool:
        """Whether one says all that the other says, and more: "delete", "delete after asking".

        Other words on both sides are how a paraphrase looks; more words on one side are not.
        """
        return not self.is_identical and bool(self.only_statement) != bool(self.only_entry)

    @property
    def does_other_things(self) -> bool:
        """Whether the entry does more or less than what is asked for."""
        return bool(self.unasked or self.unoffered)


def compare(text: str, candidate: Candidate) -> Comparison:
    """Compare a statement with a candidate: with the phrasing it repeats, else the nearest one."""
    identical = _find_identical(text, candidate)
    if identical is not None:
        candidate = replace(candidate, phrasing=identical)
    statement, phrasing = analyse(text), analyse(candidate.phrasing)
    script = analyse_script(candidate.script)
    known = phrasing.actions | script.actions
    literals = compare_literals(statement, candidate)
    return Comparison(
        statement=statement,
        phrasing=phrasing,
        literals=literals,
        opposed_marks=tuple(opposed(statement.marks, phrasing.marks)),
        lone_axes=lone_axes(statement.marks, phrasing.marks),
        is_contrary=disagree(statement.actions, phrasing.actions),
        unasked=unmatched(phrasing.actions, statement.actions),
        unoffered=unmatched(statement.actions, known if phrasing.actions else frozenset()),
        other_objects=bool(statement.objects and phrasing.objects)
        and not statement.objects & phrasing.objects,
        only_statement=_strays(statement.words - phrasing.words, literals.loose_extra)
        - script.pieces,
        only_entry=_strays(phrasing.words - statement.words, literals.loose_missing),
        is_identical=identical is not None,
    )


def features(text: str, candidate: Candidate) -> dict[str, float]:
    """What a `RelevanceModel` weighs, each about 0 to 1 (see `features_of`)."""
    return features_of(compare(text, candidate), candidate)


def features_of(comparison: Comparison, candidate: Candidate) -> dict[str, float]:
    """The features of a comparison.

    `cosine` of the embeddings; `words` and `trigrams`: Dice coefficients; `said` and `asked`: the
    share of the statement's words that the entry has, and the other way round; the rest counts
    agreements and contradictions, cut off at two or three.
    """
    statement, phrasing, literals = comparison.statement, comparison.phrasing, comparison.literals
    script = analyse_script(candidate.script)
    entry_words = phrasing.words.union(
        script.pieces, *(analyse(other).words for other in candidate.phrasings)
    )
    loose = len(literals.loose_extra) + len(literals.loose_missing)
    lone = len(comparison.lone_axes - TELLING_AXES)
    same = len(literals.same) + len(literals.fills)
    loose += len(literals.defaulted)
    near = min(len(statement.words ^ phrasing.words), 3) / 3
    agree = statement.actions and phrasing.actions and not comparison.is_contrary
    return {
        "cosine": candidate.cosine,
        "words": _dice(statement.words, phrasing.words),
        "trigrams": _dice(statement.trigrams, phrasing.trigrams),
        "said": _share(statement.words, entry_words),
        "asked": _share(phrasing.words, statement.words),
        "same_literals": min(same, 3) / 3,
        "explained_literals": min(len(literals.explained), 2) / 2,
        "conflicting_literals": min(literals.conflicts, 3) / 3,
        "loose_literals": min(loose, 3) / 3,
        "agreeing_verbs": float(bool(agree)),
        "contrary_verbs": float(comparison.is_contrary),
        "other_actions": float(comparison.does_other_things),
        "other_objects": float(comparison.other_objects),
        "opposed_marks": min(len(comparison.opposed_marks), 2) / 2,
        "lone_marks": min(len(comparison.lone_axes & TELLING_AXES), 2) / 2,
        "lone_hints": min(lone, 3) / 3,
        "near_miss": near if _dice(statement.words, phrasing.words) > 0.7 else 0.0,
        "one_sided": float(comparison.is_one_sided),
        "identical": float(comparison.is_identical),
    }


@dataclass(frozen=True, slots=True)
class RelevanceModel:
    """A logistic model of "this entry answers the statement", with its two thresholds."""

    version: str
    coefficients: Mapping[str, float]  # by feature; "bias" stands alone
    match_threshold: float
    adapt_threshold: float

    def confidence(self, values: Mapping[str, float]) -> float:
        """The estimated probability, 0 to 1, that the entry answers the statement."""
        total = self.coefficients.get("bias", 0.0) + sum(
            self.coefficients.get(name, 0.0) * value for name, value in values.items()
        )
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


def _strays(words: frozenset[str], literals: Sequence[Literal]) -> frozenset[str]:
    """The words of weight among those that only one side has, and its loose numbers and names."""
    others = {literal.value for literal in literals if literal.kind != Kind.PATH}
    return (words - LIGHT_WORDS) | others


def _find_identical(text: str, candidate: Candidate) -> str | None:
    """The phrasing that is the statement but for spaces and the last full stop."""
    plain = _normalise(text)
    for phrasing in (candidate.phrasing, *candidate.phrasings):
        if _normalise(phrasing) == plain:
            return phrasing
    return None


@lru_cache(maxsize=8192)
def _normalise(text: str) -> str:
    return " ".join(text.split()).rstrip(".!? ")


def _dice(some: Set[str], others: Set[str]) -> float:
    total = len(some) + len(others)
    return 2 * len(some & others) / total if total else 0.0


def _share(some: Set[str], others: Set[str]) -> float:
    return len(some & others) / len(some) if some else 1.0
