"""Fits a scoring to a team's own labels, and measures on held-out labels whether it is better.

Words and trees stay those of the original scoring: a team labels hundreds of cases, and growing trees takes
thousands. Only the calibration is fitted, which depends most on what a team asks. Needs scikit-learn, which web
processes do not import.
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
# From so many labels on each of the calibration's weights is fitted, below it only their scale and bias.
MANY_LABELS = 400
_LEAST_SCALE = 0.2
_FAR = 20.0  # log-odds


class TooFewLabels(ValueError):
    """There is too little to fit; the message says what is missing, to people."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A candidate that a person has labelled, among its rivals."""

    key: int
    statement: str
    candidates: tuple[Candidate, ...]
    place: int
    is_match: bool


class CandidateFeatures(NamedTuple):
    """The features for the calibration; None if the candidate was not among those that are compared."""

    key: int
    statement: str
    values: dict[str, float] | None
    is_match: bool


def read_features(labelled: Labelled, model: RelevanceModel) -> CandidateFeatures:
    """How the labelled candidate compares with its rivals."""
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
    """Raise TooFewLabels where there is too little to fit."""
    matches = sum(labels)
    missing = max(
        LEAST_LABELS - len(labels),
        LEAST_OF_A_KIND - matches,
        LEAST_OF_A_KIND - len(labels) + matches,
    )
    if missing > 0:
        raise TooFewLabels(
            f"{len(labels)} labels of cases that the rules let be a match, {matches} of them one. A fit"
            f" takes {LEAST_LABELS}, and {LEAST_OF_A_KIND} of either kind."
        )


def refit(
    features: Sequence[CandidateFeatures],
    document: ModelDocument,
    *,
    version: str,
    made: dict[str, object],
) -> ModelDocument:
    """The document with a calibration fitted to these labels. Raises TooFewLabels."""
    return {
        **document,
        "version": version,
        "made": made,
        "calibration": _fit(features, document["calibration"]),
    }


def hold_out(
    features: Sequence[CandidateFeatures], calibration: dict[str, float]
) -> dict[int, dict[str, float]]:
    """A calibration for each label, fitted without it and without other labels of its statement."""
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
    # Platt's way: what the scoring said, stretched and shifted. Shifted and stretched from 1 and 0
    # only as far as the labels insist, for few of them would otherwise say too much.
    said = [[weigh_standing(values, calibration)] for values, _ in known]
    scale, bias = _stretch(said, labels)
    return {name: scale * weight for name, weight in calibration.items() if name != "bias"} | {
        "bias": bias + scale * calibration["bias"]
    }


def _stretch(said: Sequence[Sequence[float]], labels: Sequence[bool]) -> tuple[float, float]:
    logistic = LogisticRegression(C=1.0, max_iter=1000).fit(said, labels)
    scale, bias = float(logistic.coef_[0][0]), float(logistic.intercept_[0])
    # Where the labels know nothing of its order, or would turn it round, it keeps it and is shifted only.
    return (
        (scale, bias) if scale >= _LEAST_SCALE else (1.0, _shift([row[0] for row in said], labels))
    )


def _shift(said: Sequence[float], labels: Sequence[bool]) -> float:
    """How far log-odds have to move for as many matches to be expected as there are."""
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
