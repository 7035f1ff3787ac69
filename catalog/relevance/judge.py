"""The relevance rule: match, starting point, or neither."""

from __future__ import annotations

from catalog.relevance.comparison import Comparison, compare
from catalog.relevance.score import RelevanceModel, features_of
from catalog.relevance.types import Candidate, Judgement
from catalog.relevance.wording import differences, reasons
from catalog.types import Answer

# Set by hand on public pairs of statements and scripts: precise rather than generous.
HAND_MODEL = RelevanceModel(
    version="hand-1",
    coefficients={
        "bias": -7.0,
        "cosine": 6.0,
        "words": 1.5,
        "trigrams": 0.5,
        "said": 1.0,
        "asked": 1.0,
        "same_literals": 2.0,
        "filled_parameters": 1.5,
        "explained_literals": 0.5,
        "conflicting_literals": -5.0,
        "loose_literals": -1.0,
        "agreeing_verbs": 0.5,
        "contrary_verbs": -3.0,
        "other_actions": -1.5,
        "other_objects": -2.0,
        "opposed_marks": -3.0,
        "lone_marks": -1.5,
        "strays": -3.0,
        "one_sided": -1.0,
        "identical": 5.0,
    },
    match_threshold=0.85,
    adapt_threshold=0.15,
)
_JUST_BELOW = 0.001


def judge(statement: str, candidate: Candidate, model: RelevanceModel = HAND_MODEL) -> Judgement:
    """Say whether a candidate answers a statement, how surely, why, and what differs.

    Whatever the model says, an entry is no match if a literal speaks against it, and nothing at
    all if verb, direction, negation or object do. Where only literals differ, or one of them does
    more, it is a starting point.
    """
    comparison = compare(statement, candidate)
    values = features_of(comparison, candidate)
    confidence = model.confidence(values)
    likeness = model.confidence(_with_literals_aside(values, comparison))
    answer = _answer(comparison, confidence, likeness, model)
    if answer == Answer.ADAPT:
        confidence = min(confidence, model.match_threshold - _JUST_BELOW)
    elif answer == Answer.NONE:
        confidence = min(confidence, model.adapt_threshold - _JUST_BELOW)
    return Judgement(
        answer=answer,
        confidence=confidence,
        likeness=likeness,
        reasons=reasons(comparison, candidate),
        differs=differences(comparison),
        fills=dict(comparison.literals.fills),
    )


def _answer(
    comparison: Comparison, confidence: float, likeness: float, model: RelevanceModel
) -> Answer:
    if comparison.opposes:
        return Answer.NONE
    is_read = not comparison.statement.is_cut or comparison.is_identical
    if confidence >= model.match_threshold and not comparison.is_open and is_read:
        return Answer.MATCH
    return Answer.ADAPT if likeness >= model.adapt_threshold else Answer.NONE


def _with_literals_aside(values: dict[str, float], comparison: Comparison) -> dict[str, float]:
    """The features as they were if the differing literals were the same."""
    literals = comparison.literals
    same = len(literals.same) + len(literals.fills) + len(literals.differing)
    return values | {
        "same_literals": min(same, 3) / 3,
        "conflicting_literals": 0.0,
        "loose_literals": 0.0,
    }
