"""Measure retrieval on held-out public pairs, by cosine alone, by words alone, and by the product's scoring.

The components are split into five folds, and each fold is tested once. The model is fitted to the other four folds.
Its calibration and threshold come from cross-validation in these four folds. The model is then tested on catalogues
sampled for the test fold.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from sklearn.isotonic import IsotonicRegression

from bench.catalog.asking import Alone, Query, Vectors, ask
from bench.catalog.confirmed import Judge, Outcome
from bench.catalog.confirmed import describe as describe_confirmed
from bench.catalog.held_out import PAIRS, Pair, make_task, read_pairs, split
from bench.catalog.swaps import Swapped, ask_swapped
from bench.figures import CannotMeasure, Figure, figure
from catalog.relevance import RelevanceModel, judge_all
from catalog.relevance.fitted.model import ModelDocument, read_model
from catalog.relevance.fitted.word_overlap import Weights
from catalog.relevance.training.fitting import (
    CrossValidationFold,
    choose_threshold,
    fit,
    rank,
    weigh_words,
)
from catalog.types import Answer
from core.intervals import wilson

SEED = 1
PARTS = 5
REPEATS = 2  # catalogues sampled for fitting, each with different statements
CALIBRATING = 3  # catalogues sampled for each held-out part
TESTED = 2  # catalogues sampled for the test part
WANTED_PRECISION = 0.95  # precision of the held-out answers above the threshold
BINS = 10
LEAST_PRECISION = {0.1: 0.80, 0.2: 0.73, 0.3: 0.65}
MOST_CALIBRATION_ERROR = 0.04
LEAST_RECALL = 0.66  # minimum recall@1


class Result(NamedTuple):
    """A scoring's ranking of the answers to a query."""

    has_answer: bool
    confidence: float  # confidence in the first answer
    right: tuple[bool, ...]


class Fold(NamedTuple):
    """The results of one test fold."""

    results: dict[str, list[Result]]
    matches: list[bool]  # whether each match is right
    swaps: list[Swapped]
    confirmed: list[Outcome]


def measure() -> list[Figure]:
    """Return the figures over all folds."""
    if not PAIRS.is_file():
        raise CannotMeasure(f"the held-out pairs ({PAIRS.name}) are not on this machine.")
    pairs = read_pairs()
    vectors = Vectors(Path(os.environ["SCRIPTSMITH_DATA"]) / "models")
    folds = [measure_fold(pairs, vectors, place) for place in range(PARTS)]
    figures: list[Figure] = []
    for scoring in ("cosine alone", "words alone", "product"):
        results = [result for fold in folds for result in fold.results[scoring]]
        figures += describe(scoring, results)
    matches = [is_right for fold in folds for is_right in fold.matches]
    asked = len([result for fold in folds for result in fold.results["product"]])
    figures.append(share("answers that are a match", len(matches), asked))
    figures.append(share("and in the component", sum(matches), len(matches)))
    for source in ("unchanged", "catalogue", "paraphrase", "turned"):
        swaps = [swap for fold in folds for swap in fold.swaps if swap.source == source]
        if source == "unchanged":
            good = sum(swap.is_match for swap in swaps)
            figures.append(share("catalogue statements that match", good, len(swaps), least=0.99))
        else:
            bad = sum(swap.is_failure for swap in swaps)
            what = "meaning turned round" if source == "turned" else f"literal swapped in {source}"
            what += ": wrong match"
            figures.append(share(what, bad, len(swaps), most=0.01))
    figures += describe_confirmed([one for fold in folds for one in fold.confirmed])
    return figures


def measure_fold(pairs: Sequence[Pair], vectors: Vectors, place: int) -> Fold:
    """Fit a model to four folds, and query the components of the held-out fold `place`."""
    parts = split((pair.component for pair in pairs), parts=PARTS, seed=SEED)
    test = parts.pop(place)
    known = frozenset().union(*parts)
    document, held_back = fit_parts(pairs, vectors, parts, seed=place)
    model = read_model(document)
    scales = {
        name: _Scale([getattr(query, name) for query in held_back])
        for name in ("cosine", "lexical")
    }
    found: dict[str, list[Result]] = {"cosine alone": [], "words alone": [], "product": []}
    matches: list[bool] = []
    judge, confirmed = Judge(), list[Outcome]()
    tested = _ask(
        pairs,
        vectors,
        model.words,
        known=known | test,
        asked=test,
        seed=place + 200,
        repeats=TESTED,
    )
    for query in tested:
        found["cosine alone"].append(scales["cosine"].read(query.has_answer, query.cosine))
        found["words alone"].append(scales["lexical"].read(query.has_answer, query.lexical))
        ranked = rank(query.asked, model)
        right = tuple(outcome.is_right for outcome in ranked)
        found["product"].append(Result(query.has_answer, ranked[0].confidence, right))
        matches += _matches(query, model)
        confirmed.append(judge.ask(query, model))
    swaps = ask_swapped(pairs, vectors, model, known=known | test, asked=test, seed=place)
    return Fold(found, matches, swaps, confirmed)


def fit_parts(
    pairs: Sequence[Pair],
    vectors: Vectors,
    parts: Sequence[frozenset[int]],
    *,
    seed: int,
    version: str = "bench",
    made: dict[str, object] | None = None,
) -> tuple[ModelDocument, list[Query]]:
    """Return a model with its threshold, fitted to these parts, and all held-out queries.

    Each part is held out once, and its queries run against a catalogue of all parts.
    """
    known = frozenset().union(*parts)
    folds, queries = [], []
    for place, part in enumerate(parts):
        rest = known - part
        weights = _weigh(pairs, rest)
        grown = _ask(pairs, vectors, weights, known=rest, asked=rest, seed=seed, repeats=REPEATS)
        held_back = _ask(
            pairs,
            vectors,
            weights,
            known=known,
            asked=part,
            seed=100 + 10 * seed + place,
            repeats=CALIBRATING,
        )
        folds.append(
            CrossValidationFold(
                [query.asked for query in grown], [query.asked for query in held_back]
            )
        )
        queries += held_back
    weights = _weigh(pairs, known)
    asked = _ask(pairs, vectors, weights, known=known, asked=known, seed=seed, repeats=REPEATS)
    document, allowed = fit(
        [query.asked for query in asked], folds=folds, version=version, made=made or {}
    )
    document["match_threshold"] = round(
        choose_threshold(allowed, wanted_precision=WANTED_PRECISION), 3
    )
    return document, queries


def _weigh(pairs: Sequence[Pair], components: frozenset[int]) -> Weights:
    statements = [pair.statement for pair in pairs if pair.component in components]
    return Weights(*weigh_words(statements))


def describe(scoring: str, results: Sequence[Result]) -> list[Figure]:
    """Return the figures of a scoring."""
    answerable = [result for result in results if result.has_answer]
    figures = [
        share(
            f"{scoring}: recall@{most}",
            sum(any(one.right[:most]) for one in answerable),
            len(answerable),
            least=LEAST_RECALL if scoring == "product" and most == 1 else None,
        )
        for most in (1, 5, 10)
    ]
    ranks = [1 / (one.right.index(True) + 1) if any(one.right[:10]) else 0.0 for one in answerable]
    figures.append(figure(f"{scoring}: MRR", sum(ranks) / len(ranks)))
    surest = sorted(results, key=lambda one: -one.confidence)
    is_product = scoring == "product"
    for part, least in LEAST_PRECISION.items():
        count = round(part * len(surest))
        right = sum(one.right[0] for one in surest[:count])
        what = f"{scoring}: precision at {part:.0%}"
        figures.append(share(what, right, count, least=least if is_product else None))
    figures.append(
        figure(
            f"{scoring}: calibration error",
            calibration_error(results),
            most=MOST_CALIBRATION_ERROR if is_product else None,
            note=f"{BINS} bins of equal width, {len(results)} queries",
        )
    )
    return figures


def calibration_error(results: Sequence[Result]) -> float:
    """Return the expected calibration error over bins of equal width (Naeini et al., AAAI 2015)."""
    bins: list[list[Result]] = [[] for _ in range(BINS)]
    for result in results:
        bins[min(int(result.confidence * BINS), BINS - 1)].append(result)
    return sum(
        abs(sum(one.confidence for one in group) - sum(one.right[0] for one in group))
        for group in bins
    ) / len(results)


def share(
    what: str, part: int, whole: int, *, least: float | None = None, most: float | None = None
) -> Figure:
    """Return a figure with a share and its interval."""
    if not whole:
        return figure(what, None, least=least, most=most, note="there were none")
    low, high = wilson(part, whole)
    note = f"{part} of {whole}, 95 % from {low:.3f} to {high:.3f}"
    return figure(what, part / whole, least=least, most=most, note=note)


class _Scale:
    """Converts a single measure to a probability, by isotonic regression on held-out queries."""

    def __init__(self, found: Sequence[Alone]) -> None:
        values = [alone.value for alone in found]
        right = [float(alone.right[0]) for alone in found]
        self._curve = IsotonicRegression(out_of_bounds="clip").fit(values, right)

    def read(self, has_answer: bool, alone: Alone) -> Result:
        """Return the result with a confidence. A small multiple of the measure orders equal regression values."""
        confidence = float(self._curve.predict([alone.value])[0])
        return Result(has_answer, confidence + 1e-6 * alone.value, alone.right)


def _ask(
    pairs: Sequence[Pair],
    vectors: Vectors,
    weights: Weights,
    *,
    known: frozenset[int],
    asked: frozenset[int],
    seed: int,
    repeats: int = 1,
) -> list[Query]:
    return [
        query
        for repeat in range(repeats)
        for query in ask(
            make_task(pairs, known=known, asked=asked, seed=1000 * seed + repeat), vectors, weights
        )
    ]


def _matches(query: Query, model: RelevanceModel) -> list[bool]:
    """Return whether the first answer is right, as a list that is empty if the answer is not a match."""
    [first, *_] = judge_all(query.asked.statement, query.asked.candidates, model)
    return [query.asked.right[first.place]] if first.judgement.answer is Answer.MATCH else []
