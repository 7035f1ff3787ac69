"""The current relevance model and its thresholds."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import TypedDict, cast

from catalog import relevance
from catalog.models import ScoringChoice, ScoringModel, Threshold
from catalog.relevance import RelevanceModel, shipped_model
from catalog.relevance.fitted.model import ModelDocument, read_model

_HELD_OUT = Path(relevance.__file__).with_name("held_out.json")


class HeldOut(TypedDict):
    """Benchmark results of a shipped scoring model (`make bench`), on public pairs held out from its training."""

    queries: int
    precision: dict[str, float]  # precision by coverage (percentage of queries that are answered)
    calibration_error: float


def current_scoring() -> RelevanceModel:
    """Return the model chosen last, or else the shipped model, with its newest threshold.

    This function makes two queries. Models never change, so each process reads a model only once.
    """
    chosen = ScoringChoice.objects.values_list("model", flat=True).first()
    return with_threshold(model_of(chosen) if chosen else shipped_model())


def with_threshold(model: RelevanceModel) -> RelevanceModel:
    """Return the model with its newest threshold, if one was chosen."""
    chosen = Threshold.objects.filter(scoring=model.version).first()
    if chosen is None:
        return model
    return replace(model, match_threshold=chosen.match, adapt_threshold=chosen.adapt)


@lru_cache(maxsize=8)
def model_of(pk: int) -> RelevanceModel:
    """Return a model fitted to this team's labels, by its key."""
    document = ScoringModel.objects.values_list("document", flat=True).get(pk=pk)
    return read_model(cast("ModelDocument", document))


@cache
def held_out_figures(scoring: str) -> HeldOut | None:
    """Return the benchmark results of a shipped scoring model, or None for a model fitted to a team's labels."""
    figures: dict[str, HeldOut] = json.loads(_HELD_OUT.read_text("utf-8"))
    return figures.get(scoring)
