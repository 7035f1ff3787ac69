"""The fitted model: which candidates are worth a closer look, and how sure a match is."""

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
_BOUND = 30.0  # log-odds beyond which nothing changes
STANDING = ("score", "rivals")  # what a calibration goes by


class ModelDocument(TypedDict):
    """A model as JSON."""

    version: str
    made: dict[str, object]  # from what, how and how many
    words: dict[str, float]
    rare_word: float
    first_look: dict[str, float]
    forest: ForestDocument
    calibration: dict[str, float]
    match_threshold: float
    adapt_threshold: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RelevanceModel:
    """All that is fitted, and the two thresholds; made by `catalog.relevance.training.fitting`.

    A candidate is looked at three times: `first_look` is logistic and cheap, the `forest` weighs
    what the rules found, and `calibration` makes a probability of it, given the other candidates.
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
        """For each candidate of one statement the probability, 0 to 1, that it is the answer."""
        return [sigmoid(weigh_standing(one, self.calibration)) for one in standings(scores)]


def standings(scores: Sequence[float]) -> list[dict[str, float]]:
    """What the calibration goes by: each candidate's log-odds, and how the others stand to it."""
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
    """The log-odds that a candidate is the answer."""
    weighed = (weight * standing[name] for name, weight in calibration.items() if name != "bias")
    return calibration["bias"] + sum(weighed)


def sigmoid(value: float) -> float:
    """The probability of log-odds."""
    return 1 / (1 + exp(-max(-_BOUND, min(_BOUND, value))))


def read_model(document: ModelDocument) -> RelevanceModel:
    """The model that a document describes. Raises KeyError or ValueError."""
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
    """The default, fitted on public pairs of statements and scripts."""
    return read_model(shipped_document())


def shipped_document() -> ModelDocument:
    """The default as it is stored."""
    document: ModelDocument = json.loads(_SHIPPED.read_text("utf-8"))
    return document
