"""Fit a scoring to a team's own labels, and measure on held-out labels whether it is better.

Only the calibration is fitted, because it depends most on a team's requests. The scoring keeps the words and trees of
the original scoring, because a team labels hundreds of cases and trees need thousands. This module needs scikit-learn,
which web processes do not import.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sklearn.linear_model import LogisticRegression

from catalog.relevance.comparison import compare
from catalog.relevance.fitted.model import (
    ModelDocument,
    RelevanceModel,
    sigmoid,
    standings,
    weigh_standing,
)
from catalog.relevance.judge import MOST_COMPARED, full_row, score_candidates
from catalog.relevance.types import Candidate

FOLDS = 5
LEAST_LABELS = 60
LEAST_OF_A_KIND = 15
# With at least this many labels, all weights of the calibration are fitted. With fewer, only scale and bias are fitted.
MANY_LABELS = 400
_LEAST_SCALE = 0.2
_FAR = 20.0  # log-odds


class TooFewLabels(ValueError):
    """There are too few labels to fit. The message says how many labels exist and how many are needed."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A candidate with a reviewer's label, among its rivals."""

    key: int
    statement: str
    candidates: tuple[Candidate, ...]
    place: int
    is_match: bool


class CandidateFeatures(NamedTuple):
    """A labeled candidate's calibration features, or None if the candidate was not compared."""

    key: int
    statement: str
    values: dict[str, float] | None
    is_match: bool


def read_features(labelled: Labelled, model: RelevanceModel) -> CandidateFeatures:
    """Return the calibration features of the labeled candidate among its rivals."""
    scored = score_candidates(labelled.statement, labelled.candidates, model)[:MOST_COMPARED]
    rows = []
    for rival in scored:
        candidate = labelled.candidates[rival.place]
        comparison = compare(labelled.statement, candidate)
        rows.append(full_row(labelled.statement, candidate, comparison, rival, model))
    places = [rival.place for rival in scored]
    values = None
    if labelled.place in places:
        scores = model.forest.score(rows).tolist()
        values = standings(scores)[places.index(labelled.place)]
    return CandidateFeatures(labelled.key, labelled.statement, values, labelled.is_match)


def check_enough(labels: Sequence[bool]) -> None:
    """Raise TooFewLabels if there are too few labels to fit."""
    matches = sum(labels)
    missing = max(
        LEAST_LABELS - len(labels),
        LEAST_OF_A_KIND - matches,
        LEAST_OF_A_KIND - len(labels) + matches,
    )
    if missing > 0:
        raise TooFewLabels(
            f"Only {len(labels)} labels are of pairs that the rules allow to match, {matches} of them matches."
            f" A fit needs {LEAST_LABELS}, including {LEAST_OF_A_KIND} matches and {LEAST_OF_A_KIND} others."
        )


def refit(
    features: Sequence[CandidateFeatures],
    document: ModelDocument,
    *,
    version: str,
    made: dict[str, object],
) -> ModelDocument:
    """Return the document with a calibration fitted to these labels. Raise TooFewLabels if the labels are too few."""
    return {
        **document,
        "version": version,
        "made": made,
        "calibration": _fit(features, document["calibration"]),
    }


def hold_out(
    features: Sequence[CandidateFeatures], calibration: dict[str, float]
) -> dict[int, dict[str, float]]:
    """Return a calibration for each label, fitted without the labels of the same statement."""
    folds: dict[int, dict[str, float]] = {}
    for fold in range(FOLDS):
        rest = [one for one in features if _fold_of(one.statement) != fold]
        fitted = _fit(rest, calibration, least=False)
        folds |= {one.key: fitted for one in features if _fold_of(one.statement) == fold}
    return folds


def _fit(
    features: Sequence[CandidateFeatures], calibration: dict[str, float], *, least: bool = True
) -> dict[str, float]:
    known = [(one.values, one.is_match) for one in features if one.values is not None]
    labels = [is_match for _values, is_match in known]
    if least:
        check_enough(labels)
    if len(set(labels)) < 2:
        return calibration
    if len(labels) >= MANY_LABELS:
        names = [name for name in calibration if name != "bias"]
        table = [[values[name] for name in names] for values, _ in known]
        logistic = LogisticRegression(max_iter=1000).fit(table, labels)
        weights = dict(zip(names, logistic.coef_[0].tolist(), strict=True))
        return {"bias": float(logistic.intercept_[0]), **weights}
    # Use Platt scaling of the existing score. Scale and shift are regularized toward 1 and 0, because a few labels
    # would otherwise have too much influence.
    said = [[weigh_standing(values, calibration)] for values, _ in known]
    scale, bias = _stretch(said, labels)
    return {name: scale * weight for name, weight in calibration.items() if name != "bias"} | {
        "bias": bias + scale * calibration["bias"]
    }


def _stretch(said: Sequence[Sequence[float]], labels: Sequence[bool]) -> tuple[float, float]:
    logistic = LogisticRegression(C=1.0, max_iter=1000).fit(said, labels)
    scale, bias = float(logistic.coef_[0][0]), float(logistic.intercept_[0])
    # If the labels do not support the order of the scores, or would reverse it, only shift the scores.
    return (
        (scale, bias) if scale >= _LEAST_SCALE else (1.0, _shift([row[0] for row in said], labels))
    )


def _shift(said: Sequence[float], labels: Sequence[bool]) -> float:
    """Return the shift of the log-odds at which the expected number of matches equals the observed number."""
    wanted = (sum(labels) + 0.5) / (len(labels) + 1) * len(labels)
    low, high = -_FAR, _FAR
    for _ in range(60):
        middle = (low + high) / 2
        if sum(sigmoid(value + middle) for value in said) < wanted:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _fold_of(statement: str) -> int:
    return int(hashlib.sha256(statement.encode()).hexdigest()[:8], 16) % FOLDS
