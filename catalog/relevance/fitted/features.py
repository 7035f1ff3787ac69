"""Compute numeric features of a statement and an entry."""

from __future__ import annotations

from collections.abc import Mapping, Set

from catalog.relevance.comparison import TELLING_AXES, Comparison
from catalog.relevance.fitted.model import sigmoid
from catalog.relevance.statement.actions import strong
from catalog.relevance.statement.profiles import analyse
from catalog.relevance.statement.scripts import analyse_script
from catalog.relevance.types import Candidate

_MEASURES = frozenset({"duration", "size", "number", "percent"})

# Weights for the likeness of an entry. They are set by hand, because public pairs do not show which starting point
# helps most.
_LIKENESS = {
    "bias": -6.75,
    "cosine": 6.0,
    "words": 1.5,
    "said": 1.0,
    "asked": 1.0,
    "same_literals": 2.0,
    "filled_parameters": 1.5,
    "explained_literals": 0.5,
    "agreeing_verbs": 0.5,
    "contrary_verbs": -3.0,
    "other_actions": -1.5,
    "other_objects": -2.0,
    "opposed_marks": -3.0,
    "lone_marks": -1.5,
    "strays": -3.0,
    "one_sided": -1.0,
    "identical": 5.0,
}


def likeness(values: Mapping[str, float], comparison: Comparison) -> float:
    """Return the similarity of statement and entry, 0 to 1, as if the differing literals were equal."""
    literals = comparison.literals
    same = len(literals.same) + len(literals.fills) + len(literals.differing)
    values = {**values, "same_literals": min(same, 3) / 3}
    return sigmoid(
        _LIKENESS["bias"]
        + sum(weight * values[name] for name, weight in _LIKENESS.items() if name != "bias")
    )


def features_of(comparison: Comparison, candidate: Candidate) -> dict[str, float]:
    """Return the findings of the rules as features, each roughly between 0 and 1.

    `cosine` compares the embeddings and `words` is a Dice coefficient. `said` is the share of the statement's
    words that are in the entry, and `asked` is the reverse. The other features count agreements and contradictions,
    up to a small maximum.
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


def rules_of(comparison: Comparison, candidate: Candidate) -> dict[str, float]:
    """Return all features from the rules. Literals that fill a parameter count as shared."""
    return features_of(comparison, candidate) | counts_of(comparison, candidate)


def counts_of(comparison: Comparison, candidate: Candidate) -> dict[str, float]:
    """Return separate counts of the rules' findings, for a model that can weigh them."""
    statement, phrasing, literals = comparison.statement, comparison.phrasing, comparison.literals
    script = analyse_script(candidate.script)
    mine = [literal for literal in statement.literals if literal not in literals.open_places]
    unexplained = [literal for literal in mine if not script.explains(literal)]
    theirs = [
        literal
        for literal in phrasing.literals
        if literal.firm and not candidate.parameters and not script.explains(literal)
    ]
    counts = {
        "n_same": len(literals.same) + len(literals.fills),
        "n_same_measures": sum(mine.kind.family in _MEASURES for mine, _ in literals.same),
        "n_differing": len(literals.differing),
        "n_differing_measures": sum(
            mine.kind.family in _MEASURES for mine, _ in literals.differing
        ),
        "n_extra": len(literals.extra),
        "n_missing": len(literals.missing),
        "n_explained": len(literals.explained),
        "n_misplaced": len(literals.misplaced),
        "n_loose_extra": len(literals.loose_extra),
        "n_loose_missing": len(literals.loose_missing),
        "n_statement_literals": len(statement.literals),
        "n_phrasing_literals": len(phrasing.literals),
        "n_unexplained": sum(literal.firm for literal in unexplained),
        "n_unexplained_guesses": sum(not literal.firm for literal in unexplained),
        "n_phrasing_unexplained": len(theirs),
        "n_only_statement": len(comparison.only_statement),
        "n_only_entry": len(comparison.only_entry),
        "n_statement_words": len(comparison.statement_words - comparison.entry_words),
        "n_entry_words": len(comparison.entry_words - comparison.statement_words),
        "n_lone_axes": len(comparison.lone_axes),
        "n_unasked": len(comparison.unasked),
        "n_unoffered": len(comparison.unoffered),
        "n_not_scripted": len(strong(statement.actions) - script.actions),
        "n_scripted_only": len(script.actions - statement.actions),
        "is_open": comparison.is_open,
        "opposes": comparison.opposes,
    }
    return {name: float(count) for name, count in counts.items()}


def _dice(some: Set[str], others: Set[str]) -> float:
    total = len(some) + len(others)
    return 2 * len(some & others) / total if total else 1.0


def _share(some: Set[str], others: Set[str]) -> float:
    return len(some & others) / len(some) if some else 1.0
