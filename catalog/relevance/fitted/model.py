"""The fitted model, which selects candidates for a full comparison and estimates the probability of a match."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import exp, sqrt
from pathlib import Path
from typing import TypedDict

from catalog.relevance.fitted.forest import Forest, ForestDocument
from catalog.relevance.fitted.word_overlap import Weights

_SHIPPED = Path(__file__).resolve().parents[1] / "model.json"
_BOUND = 30.0  # log-odds are clipped to this range
STANDING = ("score", "rivals")  # features of the calibration


class ModelDocument(TypedDict):
    """A model as JSON."""

    version: str
    made: dict[str, object]  # training data, method and sizes
    words: dict[str, float]
    rare_word: float
    first_look: dict[str, float]
    forest: ForestDocument
    calibration: dict[str, float]
    match_threshold: float
    adapt_threshold: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RelevanceModel:
    """The fitted parts and the two thresholds, as created by `catalog.relevance.training.fitting`.

    Candidates are scored in three steps. `first_look` is a cheap logistic model, `forest` weighs the findings of
    the rules, and `calibration` converts the score to a probability relative to the other candidates.
    """

    version: str
    words: Weights
    first_look: Mapping[str, float]
    forest: Forest
    calibration: Mapping[str, float]
    match_threshold: float
    adapt_threshold: float
    made: Mapping[str, object]

    def confidences(self, scores: Sequence[float]) -> list[float]:
        """Return the probability, 0 to 1, that each candidate is the answer to the statement."""
        return [sigmoid(weigh_standing(one, self.calibration)) for one in standings(scores)]


def standings(scores: Sequence[float]) -> list[dict[str, float]]:
    """Return the calibration's features for each candidate: its own log-odds, and the strength of its rivals."""
    chances = [sigmoid(score) for score in scores]
    total = sum(chances)
    return [
        {
            "score": max(-_BOUND, min(_BOUND, score)),
            "rivals": sqrt(max(0.0, total - chance)),
        }
        for score, chance in zip(scores, chances, strict=True)
    ]


def weigh_standing(standing: Mapping[str, float], calibration: Mapping[str, float]) -> float:
    """Return the log-odds that a candidate is the answer."""
    weighed = (weight * standing[name] for name, weight in calibration.items() if name != "bias")
    return calibration["bias"] + sum(weighed)


def sigmoid(value: float) -> float:
    """Convert log-odds to a probability."""
    return 1 / (1 + exp(-max(-_BOUND, min(_BOUND, value))))


def read_model(document: ModelDocument) -> RelevanceModel:
    """Create a model from its document. Raise KeyError or ValueError if the document is invalid."""
    return RelevanceModel(
        version=document["version"],
        words=Weights(document["words"], document["rare_word"]),
        first_look=document["first_look"],
        forest=Forest.from_document(document["forest"]),
        calibration=document["calibration"],
        match_threshold=document["match_threshold"],
        adapt_threshold=document["adapt_threshold"],
        made=document["made"],
    )


@cache
def shipped_model() -> RelevanceModel:
    """Return the default model, which is fitted to public pairs of statements and scripts."""
    return read_model(shipped_document())


def shipped_document() -> ModelDocument:
    """Return the document of the default model."""
    document: ModelDocument = json.loads(_SHIPPED.read_text("utf-8"))
    return document
