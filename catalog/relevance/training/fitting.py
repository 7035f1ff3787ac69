"""Fit a relevance model to statements with known answers.

This module needs scikit-learn, which web processes do not import.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from catalog.relevance.comparison import compare
from catalog.relevance.fitted.features import rules_of
from catalog.relevance.fitted.forest import ForestDocument
from catalog.relevance.fitted.model import (
    STANDING,
    ModelDocument,
    RelevanceModel,
    read_model,
    standings,
)
from catalog.relevance.fitted.word_overlap import Weights, read_wording, surface_features
from catalog.relevance.judge import MOST_COMPARED, add_gaps, judge_all, score_candidates
from catalog.relevance.types import Candidate
from catalog.types import Answer

_LEAST_STATEMENTS = 5  # words in fewer statements share one weight
_FIRST_LOOK = (
    "cosine", "lexical", "said_weight", "asked_weight", "new_weight", "lost_weight", "pairs",
    "values_said", "values_lost", "values_new", "new_to_script", "cosine_gap", "lexical_gap",
)  # fmt: skip
TREES = 90
LEAVES = 8
_DIGITS = 6  # significant digits of stored values


@dataclass(frozen=True, slots=True)
class Asked:
    """A statement with its candidates, and whether each candidate is right."""

    statement: str
    candidates: tuple[Candidate, ...]
    right: tuple[bool, ...]


class Outcome(NamedTuple):
    """The confidence of a candidate, and whether it is right."""

    confidence: float
    is_right: bool


class CrossValidationFold(NamedTuple):
    """Statements for training trees, and held-out statements of other components for calibration."""

    asked: Sequence[Asked]
    held_back: Sequence[Asked]


class Fitted(NamedTuple):
    """A model, and held-out outcomes that the rules permit. The outcomes are the basis for choosing a threshold."""

    document: ModelDocument
    allowed: list[Outcome]


def fit(
    asked: Sequence[Asked],
    *,
    folds: Sequence[CrossValidationFold],
    version: str,
    made: dict[str, object],
) -> Fitted:
    """Fit a model that estimates whether a candidate is the answer.

    The trees are trained on all statements in `asked`. Confidences are calibrated by cross-validation: each fold trains
    its own trees, which have not seen the fold's held-out statements. The thresholds of the result are 1 and 0.15. Call
    `choose_threshold` to find a better match threshold.
    """
    grown = [read_model(grow(fold.asked)) for fold in folds]
    calibration = _fit_calibration(
        [
            found
            for fold, model in zip(folds, grown, strict=True)
            for one in fold.held_back
            if (found := _stand(one, model))
        ]
    )
    allowed = [
        outcome
        for fold, model in zip(folds, grown, strict=True)
        for one in fold.held_back
        if (outcome := allow(one, replace(model, calibration=calibration)))
    ]
    document = grow(asked)
    document["version"], document["made"] = version, made
    document["calibration"] = calibration
    return Fitted(document, allowed)


def allow(one: Asked, model: RelevanceModel) -> Outcome | None:
    """Return the outcome of the most confident candidate that the rules permit at any threshold, or None."""
    judged = judge_all(one.statement, one.candidates, replace(model, match_threshold=0.0))
    for place, judgement in judged:
        if judgement.answer is Answer.MATCH:
            return Outcome(judgement.confidence, one.right[place])
    return None


def grow(asked: Sequence[Asked]) -> ModelDocument:
    """Return an uncalibrated model with word weights, the first pass and trees."""
    words, rare = weigh_words(one.statement for one in asked)
    document = ModelDocument(
        version="",
        made={},
        words=words,
        rare_word=rare,
        first_look=_fit_first_look(asked, Weights(words, rare)),
        forest=ForestDocument(
            features=[], base=0.0, depth=0, roots=[], feature=[], threshold=[], left=[], right=[],
            value=[],
        ),
        calibration={"bias": 0.0, "score": 1.0},
        match_threshold=1.0,
        adapt_threshold=0.15,
    )  # fmt: skip
    document["forest"] = _fit_forest(asked, read_model(document))
    return document


def choose_threshold(outcomes: Iterable[Outcome], *, wanted_precision: float) -> float:
    """Return the lowest confidence that reaches the target precision, or 1 if no confidence reaches it."""
    best, right = 1.0, 0
    ordered = sorted(outcomes, reverse=True)
    for count, outcome in enumerate(ordered, start=1):
        right += outcome.is_right
        if right / count >= wanted_precision:
            best = outcome.confidence
    return best


def weigh_words(statements: Iterable[str]) -> tuple[dict[str, float], float]:
    """Return the log rarity of each word, and the shared weight of words that are too rare to have their own."""
    seen = [read_wording(statement).words for statement in set(statements)]
    counts = Counter(word for words in seen for word in words)
    known = {
        word: round(math.log((len(seen) + 1) / (count + 0.5)), 2)
        for word, count in sorted(counts.items())
        if count >= _LEAST_STATEMENTS
    }
    return known, round(math.log((len(seen) + 1) / 2), 2)


def rank(one: Asked, model: RelevanceModel) -> list[Outcome]:
    """Return the outcome of each compared candidate, with its confidence before the rules apply, best first."""
    rows, right = _closer_look(one, model)
    if not rows:
        return []
    confidences = model.confidences(model.forest.score(rows).tolist())
    return sorted(map(Outcome, confidences, right), key=lambda outcome: -outcome.confidence)


def _fit_first_look(asked: Sequence[Asked], weights: Weights) -> dict[str, float]:
    """Fit a logistic model of the cheap features. The model selects candidates for comparison."""
    table: list[list[float]] = []
    right: list[bool] = []
    for one in asked:
        statement = read_wording(one.statement)
        rows = [surface_features(statement, candidate, weights) for candidate in one.candidates]
        add_gaps(rows)
        table += [[row[name] for name in _FIRST_LOOK] for row in rows]
        right += one.right
    scaler = StandardScaler().fit(table)
    logistic = LogisticRegression(max_iter=1000).fit(scaler.transform(table), right)
    weighed = logistic.coef_[0] / scaler.scale_
    bias = logistic.intercept_[0] - weighed @ scaler.mean_
    return {"bias": _short(bias)} | dict(zip(_FIRST_LOOK, map(_short, weighed), strict=True))


def _fit_forest(asked: Sequence[Asked], model: RelevanceModel) -> ForestDocument:
    """Fit boosted trees to all features of the compared candidates."""
    rows: list[dict[str, float]] = []
    right: list[bool] = []
    for one in asked:
        more_rows, more_right = _closer_look(one, model)
        rows += more_rows
        right += more_right
    features = sorted(rows[0])
    table = np.array([[row[name] for name in features] for row in rows])
    trees = HistGradientBoostingClassifier(
        max_iter=TREES,
        max_leaf_nodes=LEAVES,
        learning_rate=0.1,
        min_samples_leaf=40,
        l2_regularization=5.0,
        max_features=0.4,
        early_stopping=False,
        random_state=0,
    ).fit(table, right)
    return write_forest(trees, features)


def _stand(one: Asked, model: RelevanceModel) -> tuple[dict[str, float], bool] | None:
    """Return the best candidate's calibration features and whether it is right, or None if there are no candidates."""
    rows, right = _closer_look(one, model)
    if not rows:
        return None
    scores = model.forest.score(rows).tolist()
    best = max(range(len(scores)), key=scores.__getitem__)
    return standings(scores)[best], right[best]


def _fit_calibration(standing: Sequence[tuple[dict[str, float], bool]]) -> dict[str, float]:
    """Fit a probability to the log-odds of the best candidate and its rivals."""
    table = [[values[name] for name in STANDING] for values, _ in standing]
    logistic = LogisticRegression(max_iter=1000).fit(table, [right for _, right in standing])
    weights = dict(zip(STANDING, map(_short, logistic.coef_[0]), strict=True))
    return {"bias": _short(logistic.intercept_[0])} | weights


def _closer_look(one: Asked, model: RelevanceModel) -> tuple[list[dict[str, float]], list[bool]]:
    """Return the features of the compared candidates, and whether each candidate is right."""
    scored = score_candidates(one.statement, one.candidates, model)[:MOST_COMPARED]
    rows = [{**rival.row, **_rules(one.statement, one.candidates[rival.place])} for rival in scored]
    return rows, [one.right[rival.place] for rival in scored]


@lru_cache(maxsize=100_000)
def _rules(statement: str, candidate: Candidate) -> dict[str, float]:
    return rules_of(compare(statement, candidate), candidate)


def write_forest(trees: HistGradientBoostingClassifier, features: list[str]) -> ForestDocument:
    """Convert scikit-learn's table of nodes for each tree to arrays."""
    document = ForestDocument(
        features=features,
        base=_short(trees._baseline_prediction.item()),
        depth=0,
        roots=[],
        feature=[],
        threshold=[],
        left=[],
        right=[],
        value=[],
    )
    for [tree] in trees._predictors:
        first = len(document["feature"])
        document["roots"].append(first)
        document["depth"] = max(document["depth"], int(tree.nodes["depth"].max()))
        for place, node in enumerate(tree.nodes):
            is_leaf = bool(node["is_leaf"])
            document["feature"].append(0 if is_leaf else int(node["feature_idx"]))
            # Don't round thresholds, because values equal to a threshold would take the other branch.
            document["threshold"].append(0.0 if is_leaf else float(node["num_threshold"]))
            document["left"].append(first + (place if is_leaf else int(node["left"])))
            document["right"].append(first + (place if is_leaf else int(node["right"])))
            document["value"].append(_short(node["value"]) if is_leaf else 0.0)
    return document


def _short(number: float) -> float:
    return float(f"{number:.{_DIGITS}g}")
