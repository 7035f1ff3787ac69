"""Measure the index's recall of the ten nearest neighbors, by number of vectors and search breadth.

The vectors come from bench.catalog.shelves and are stored in a separate table. Exact nearest neighbors are found by
comparing each vector with each query vector. The bound applies to the product's breadth for this number of vectors, and
to larger breadths. `BENCH_RECALL_MEMORY` sets `maintenance_work_mem` for building an index, and
`BENCH_RECALL_CONSTRUCTION` sets `ef_construction` (default: the product's value). The last index is built over the same
vectors as `halfvec`.

Usage: BENCH_RECALL_VECTORS=130000,1300000 python -m bench recall
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from math import ceil
from statistics import quantiles

import numpy as np
from django.db import connection
from django.test.utils import override_settings
from pgvector import HalfVector, Vector
from pgvector.psycopg import register_vector

from bench.catalog.catalogue import NEAREST
from bench.catalog.shelves import Floats, Forms
from bench.figures import IS_FULL, Figure, figure
from bench.support.statements import execute
from catalog.retrieval import vector_store
from catalog.retrieval.vector_search import (
    LEAST_CANDIDATES,
    MOST_CANDIDATES,
    VECTORS_PER_CANDIDATE,
)

VECTORS = os.environ.get("BENCH_RECALL_VECTORS", "130000,390000" if IS_FULL else "30000")
BREADTHS = os.environ.get("BENCH_RECALL_BREADTHS", "100,200,400,800")
CONSTRUCTION = int(os.environ.get("BENCH_RECALL_CONSTRUCTION", vector_store.EF_CONSTRUCTION))
_MAINTENANCE = os.environ.get("BENCH_RECALL_MEMORY", "2GB")
ASKED = 200
CHUNK = 10_000
_MIB = 1_048_576
LEAST_RECALL = 0.98
# Larger than the rounding error of a sum of 384 products.
_ROUNDING = 1e-5


def measure() -> list[Figure]:
    """Build an index of each size. Print recall and time as soon as a search breadth is measured."""
    with override_settings(SCRIPTSMITH_EMBEDDER="minilm"):
        embedder = vector_store.embedder()
        forms = Forms(embedder, seed=1)
        asked = embedder.embed([forms.draw().statement for _ in range(ASKED)])
    figures: list[Figure] = []
    nearest = _Nearest(asked)
    execute("CREATE TABLE recall_vector (id bigserial PRIMARY KEY, vector vector(384) NOT NULL)")
    execute(f"SET maintenance_work_mem = '{_MAINTENANCE}'")
    before = 0
    for size in sorted(int(word) for word in VECTORS.split(",")):
        execute("DROP INDEX IF EXISTS recall_index")
        _fill(size - before, forms, nearest)
        figures += _noted(_measure_index(size, "vector", asked, nearest))
        before = size
    execute("DROP INDEX recall_index")
    figures += _noted(_measure_index(before, "halfvec", asked, nearest))
    return figures


class _Nearest:
    """The cosines of the ten nearest vectors so far, for each query vector."""

    def __init__(self, asked: Floats) -> None:
        self._asked = asked
        self._best = np.full((len(asked), NEAREST), -1.0, dtype=np.float32)

    def see(self, vectors: Floats) -> None:
        """Update the nearest vectors with these vectors."""
        cosines = self._asked @ vectors.T
        joined = np.concatenate([self._best, cosines], axis=1)
        self._best = np.partition(joined, -NEAREST, axis=1)[:, -NEAREST:]

    def share_of(self, question: int, distances: Sequence[float]) -> float:
        """Return the recall: the share of the ten nearest vectors that were found."""
        furthest = float(self._best[question].min())
        return sum(1 - one >= furthest - _ROUNDING for one in distances) / NEAREST


def _fill(count: int, forms: Forms, nearest: _Nearest) -> None:
    dice = np.random.default_rng(count)
    with connection.cursor() as cursor:
        raw = cursor.connection
        register_vector(raw)
        for start in range(0, count, CHUNK):
            made = forms.vectors_of(dice.integers(len(forms), size=min(CHUNK, count - start)))
            nearest.see(made)
            into = "COPY recall_vector (vector) FROM STDIN (FORMAT BINARY)"
            with raw.cursor() as native, native.copy(into) as copy:
                copy.set_types(["vector"])
                for vector in made:
                    copy.write_row([Vector(vector)])
    execute("ANALYZE recall_vector")


def _measure_index(size: int, kind: str, asked: Floats, nearest: _Nearest) -> Iterator[Figure]:
    typed = f"(vector::{kind}(384))"
    name = f"{size:,} vectors as {kind}"
    began = time.perf_counter()
    execute(
        f"CREATE INDEX recall_index ON recall_vector USING hnsw ({typed} {kind}_cosine_ops)"
        f" WITH (ef_construction = {CONSTRUCTION})"
    )
    taken = time.perf_counter() - began
    yield figure(f"{name}: index built, s", taken, note=f"ef_construction {CONSTRUCTION}")
    yield figure(
        f"{name}: index, MiB", _ask("SELECT pg_relation_size('recall_index')")[0][0] / _MIB
    )
    own = min(MOST_CANDIDATES, max(LEAST_CANDIDATES, ceil(size / VECTORS_PER_CANDIDATE)))
    for breadth in sorted({own, *map(int, BREADTHS.split(","))}):
        execute(f"SET hnsw.ef_search = {breadth}")
        shares, times = [], []
        for question, vector in enumerate(asked):
            value = Vector(vector) if kind == "vector" else HalfVector(vector)
            began = time.perf_counter()
            rows = _ask(
                f"SELECT vector <=> %s FROM recall_vector ORDER BY {typed} <=> %s LIMIT {NEAREST}",
                Vector(vector),  # because half precision would round the distance
                value,
            )
            times.append((time.perf_counter() - began) * 1_000)
            shares.append(nearest.share_of(question, [row[0] for row in rows]))
        least = LEAST_RECALL if breadth >= own else None
        yield figure(
            f"{name}: recall@10 with ef_search {breadth}", sum(shares) / len(shares), least=least
        )
        yield figure(f"{name}: p95 ms with ef_search {breadth}", quantiles(times[20:], n=20)[18])


def _noted(figures: Iterator[Figure]) -> Iterator[Figure]:
    for row in figures:
        print(f"{row['what']}: {row['value']:.3f} {row.get('note', '')}", flush=True)
        yield row


def _ask(statement: str, *values: object) -> list[tuple[float, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall()
