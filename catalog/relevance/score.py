"""How what is known about a statement and an entry is weighed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Set
from dataclasses import dataclass

from catalog.relevance.actions import strong
from catalog.relevance.comparison import TELLING_AXES, Comparison, compare
from catalog.relevance.profiles import analyse
from catalog.relevance.scripts import analyse_script
from catalog.relevance.types import Candidate


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
    mine, theirs = comparison.statement_words, comparison.entry_words
    offered = theirs.union(script.pieces, *(analyse(other).words for other in candidate.phrasings))
    loose = len(literals.loose_extra) + len(literals.loose_missing)
    lone = len(comparison.lone_axes - TELLING_AXES)
    same = len(literals.same) + len(literals.fills)
    if strong(phrasing.actions):
        loose += len(literals.defaulted)
    strays = len(comparison.only_statement) + len(comparison.only_entry)
    agree = statement.actions and phrasing.actions and not comparison.is_contrary
    return {
        "cosine": candidate.cosine,
        "words": _dice(mine, theirs),
        "trigrams": _dice(statement.trigrams, phrasing.trigrams),
        "said": _share(mine, offered),
        "asked": _share(theirs, mine),
        "same_literals": min(same, 3) / 3,
        "filled_parameters": min(len(literals.fills), 3) / 3,
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
        "strays": min(strays, 6) / 6,
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


def _dice(some: Set[str], others: Set[str]) -> float:
    total = len(some) + len(others)
    return 2 * len(some & others) / total if total else 1.0


def _share(some: Set[str], others: Set[str]) -> float:
    return len(some & others) / len(some) if some else 1.0
