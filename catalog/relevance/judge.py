"""Decide whether an entry is a match, a starting point or neither."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from catalog.relevance.comparison import Comparison, compare
from catalog.relevance.explanations import differences, reasons
from catalog.relevance.fitted.features import likeness, rules_of
from catalog.relevance.fitted.model import RelevanceModel, shipped_model
from catalog.relevance.fitted.word_overlap import read_wording, split_words, surface_features
from catalog.relevance.types import Candidate, Difference, Judgement
from catalog.types import Answer

MOST_COMPARED = 12  # number of candidates compared by the rules, at about 0.5 ms each
_ALIKE = 0.99  # lowest confidence of a phrasing that differs only in case, quotes and articles
_JUST_BELOW = 0.001
UNCONFIRMED = "this phrasing waits for a second reviewer"


class RankedJudgement(NamedTuple):
    """The judgment of a candidate, and the candidate's index in the input."""

    place: int
    judgement: Judgement


class ScoredCandidate(NamedTuple):
    """A candidate with the score of its surface features. Only the best candidates are compared in full."""

    place: int
    worth: float
    row: Mapping[str, float]


def judge(statement: str, candidate: Candidate, model: RelevanceModel | None = None) -> Judgement:
    """Judge a candidate without rivals. See `judge_all`."""
    [judged] = judge_all(statement, [candidate], model)
    return judged.judgement


def judge_all(
    statement: str, candidates: Sequence[Candidate], model: RelevanceModel | None = None
) -> list[RankedJudgement]:
    """Judge a statement's most promising candidates. Return the judgments by descending confidence.

    Candidates without a judgment do not answer the statement. Regardless of the model, an entry is not a match if a
    literal contradicts it. If the verb, direction, negation or object contradicts the statement, the entry is not an
    answer. If only literals differ, or if one side does more, the entry can be a starting point.
    """
    model = model or shipped_model()
    scored = score_candidates(statement, candidates, model)[:MOST_COMPARED]
    comparisons = [compare(statement, candidates[one.place]) for one in scored]
    rows = [
        full_row(statement, candidates[one.place], comparison, one, model)
        for one, comparison in zip(scored, comparisons, strict=True)
    ]
    confidences = model.confidences(model.forest.score(rows).tolist()) if rows else []
    judged = [
        RankedJudgement(
            one.place, _judge(candidates[one.place], comparison, row, confidence, model)
        )
        for one, comparison, row, confidence in zip(
            scored, comparisons, rows, confidences, strict=True
        )
    ]
    return sorted(judged, key=lambda one: -one.judgement.confidence)


def score_candidates(
    statement: str, candidates: Sequence[Candidate], model: RelevanceModel
) -> list[ScoredCandidate]:
    """Return the candidates with scores of their surface features, best first."""
    asked = read_wording(statement)
    rows = [surface_features(asked, candidate, model.words) for candidate in candidates]
    add_gaps(rows)
    weigh = model.first_look
    scored = [
        ScoredCandidate(
            place,
            weigh["bias"]
            + sum(weight * row[name] for name, weight in weigh.items() if name != "bias"),
            row,
        )
        for place, row in enumerate(rows)
    ]
    return sorted(scored, key=lambda one: (-one.worth, one.place))


def add_gaps(rows: Sequence[dict[str, float]]) -> None:
    """Add features for the gaps between each candidate's cosine and word overlap and the best values."""
    for name in ("cosine", "lexical"):
        best = max((row[name] for row in rows), default=0.0)
        for row in rows:
            row[f"{name}_gap"] = best - row[name]


def full_row(
    statement: str,
    candidate: Candidate,
    comparison: Comparison,
    scored: ScoredCandidate,
    model: RelevanceModel,
) -> dict[str, float]:
    """Return all features of a candidate. Literals that fill a parameter count as shared."""
    row = dict(scored.row)
    if candidate.parameters:
        names = [parameter.name for parameter in candidate.parameters]
        open_texts = [literal.text for literal in comparison.literals.open_places]
        aside = frozenset(word for text in (*names, *open_texts) for word in split_words(text))
        row |= surface_features(read_wording(statement), candidate, model.words, aside)
    return row | rules_of(comparison, candidate)


def _judge(
    candidate: Candidate,
    comparison: Comparison,
    row: Mapping[str, float],
    confidence: float,
    model: RelevanceModel,
) -> Judgement:
    alike = likeness(row, comparison)
    if comparison.is_identical or comparison.is_alike:
        confidence = max(confidence, _ALIKE)
    elif candidate.parameters:  # the training pairs have no parameters, so use the manual weights
        confidence = max(confidence, alike)
    answer = _answer(comparison, confidence, alike, model)
    if answer == Answer.ADAPT:
        confidence = min(confidence, model.match_threshold - _JUST_BELOW)
    elif answer == Answer.NONE:
        confidence = min(confidence, model.adapt_threshold - _JUST_BELOW)
    return Judgement(
        answer=answer,
        confidence=confidence,
        likeness=alike,
        reasons=reasons(comparison, candidate),
        differs=differences(comparison),
        fills=dict(comparison.literals.fills),
        lacks_only_certainty=answer is Answer.ADAPT and _may_match(comparison),
    )


def hold_back(judgement: Judgement, model: RelevanceModel) -> Judgement:
    """Downgrade the judgment to a starting point, because the entry's phrasing is not confirmed."""
    return replace(
        judgement,
        answer=Answer.ADAPT,
        confidence=min(judgement.confidence, model.match_threshold - _JUST_BELOW),
        differs=(Difference("unconfirmed", UNCONFIRMED), *judgement.differs),
        lacks_only_certainty=False,
    )


def _answer(
    comparison: Comparison, confidence: float, alike: float, model: RelevanceModel
) -> Answer:
    if comparison.opposes:
        return Answer.NONE
    if confidence >= model.match_threshold and _may_match(comparison):
        return Answer.MATCH
    return Answer.ADAPT if alike >= model.adapt_threshold else Answer.NONE


def _may_match(comparison: Comparison) -> bool:
    """Return whether the rules allow a match, regardless of the model's confidence."""
    is_read = not comparison.statement.is_cut or comparison.is_identical
    return is_read and not comparison.is_open
