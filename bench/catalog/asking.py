"""Find candidates for held-out queries by vector and word similarity, without a database."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from bench.catalog.held_out import Pair, Task
from catalog.embedding import load_embedder
from catalog.relevance import Candidate
from catalog.relevance.fitted.word_overlap import Weights, read_wording
from catalog.relevance.training.fitting import Asked

BY_MEANING = 40  # same as in the product (see catalog.retrieval.answers)
BY_WORDS = 15

Floats = NDArray[np.float64]


class Alone(NamedTuple):
    """A ranking by a single measure: its best value, and whether each of the ten best results is right."""

    value: float
    right: tuple[bool, ...]


class Query(NamedTuple):
    """A query with its candidates, and the rankings of the whole catalogue by each single measure."""

    asked: Asked
    has_answer: bool
    cosine: Alone
    lexical: Alone


class Vectors:
    """A cache of statement vectors under the default embedder. Computing a vector takes about 5 ms."""

    def __init__(self, cache: Path) -> None:
        """Store the embedder's files in the `cache` folder."""
        self._embedder = load_embedder("minilm", cache)
        self._known: dict[str, NDArray[np.float32]] = {}

    def of(self, pairs: Sequence[Pair]) -> NDArray[np.float32]:
        """Return one vector for each pair's statement."""
        texts = list({pair.statement for pair in pairs} - self._known.keys())
        self._known.update(zip(texts, self._embedder.embed(texts), strict=True))
        return np.stack([self._known[pair.statement] for pair in pairs])


def ask(task: Task, vectors: Vectors, weights: Weights) -> list[Query]:
    """Return the task's queries with their candidates."""
    cosines = vectors.of(task.queries) @ vectors.of(task.catalogue).T
    lexical = _lexical(task, weights)
    return [
        _query(pair, task.catalogue, cosines[place].astype(float), lexical[place])
        for place, pair in enumerate(task.queries)
    ]


def _query(pair: Pair, catalogue: Sequence[Pair], cosines: Floats, lexical: Floats) -> Query:
    near, worded = np.argsort(-cosines, kind="stable"), np.argsort(-lexical, kind="stable")
    found = list(dict.fromkeys([*near[:BY_MEANING].tolist(), *worded[:BY_WORDS].tolist()]))
    right = [one.component == pair.component for one in catalogue]
    candidates = tuple(
        Candidate(
            phrasing=catalogue[place].statement,
            script=catalogue[place].script,
            cosine=float(cosines[place]),
        )
        for place in found
    )
    return Query(
        Asked(pair.statement, candidates, tuple(right[place] for place in found)),
        any(right),
        Alone(float(cosines[near[0]]), tuple(right[place] for place in near[:10])),
        Alone(float(lexical[worded[0]]), tuple(right[place] for place in worded[:10])),
    )


def _lexical(task: Task, weights: Weights) -> Floats:
    """Return the cosines of rarity-weighted word vectors, with one row per query and one column per catalogue entry."""
    places: dict[str, int] = {}
    queries = _word_rows(task.queries, weights, places)
    catalogue = _word_rows(task.catalogue, weights, places)
    size = len(places)
    queries.resize(len(task.queries), size)
    catalogue.resize(len(task.catalogue), size)
    product: Floats = (queries @ catalogue.T).toarray()
    return product


def _word_rows(pairs: Sequence[Pair], weights: Weights, places: dict[str, int]) -> csr_array:
    rows, columns, values = [], [], []
    for row, pair in enumerate(pairs):
        words = read_wording(pair.statement).words
        length = weights.squared(words) ** 0.5 or 1.0
        for word in words:
            rows.append(row)
            columns.append(places.setdefault(word, len(places)))
            values.append(weights.total([word]) / length)
    return csr_array((values, (rows, columns)), shape=(len(pairs), len(places)))
