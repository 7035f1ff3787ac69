"""Tests that the default embedder matches the original, is deterministic, and handles unusual text."""

from __future__ import annotations

import threading

import numpy as np
import onnx
import pytest

from bench.ship.embedder import build_graph
from catalog.embedding import Embedder
from catalog.embedding.minilm import LONGEST, MiniLMEmbedder
from catalog.embedding.quantised import GRAPH
from catalog.embedding.quantised import LONGEST as LONGEST_OF_GRAPH
from catalog.embedding.weights import find_model_folder
from tests.catalog.embedding.reference import Reference, longest_of

STATEMENTS = [
    "restart nginx, but only if its configuration is valid",
    "Find all *.log files under /var/log that were modified in the last 7 days",
    "who is logged in?",
]


@pytest.mark.slow
@pytest.mark.usefixtures("model_cache")
def test_vectors_agree_with_plain_forward_pass_of_original_weights(minilm: MiniLMEmbedder) -> None:
    reference = Reference()
    vectors = minilm.embed(STATEMENTS)
    cosines = [
        float(vector @ reference.embed(text))
        for vector, text in zip(vectors, STATEMENTS, strict=True)
    ]
    assert min(cosines) > 0.999


@pytest.mark.usefixtures("model_cache")
def test_as_many_tokens_are_read_as_the_original_reads() -> None:
    assert longest_of(find_model_folder()) == LONGEST == LONGEST_OF_GRAPH


@pytest.mark.slow
@pytest.mark.usefixtures("model_cache")
def test_the_shipped_graph_is_what_would_be_made_now() -> None:
    assert onnx.load(GRAPH, load_external_data=False) == build_graph()


NEAR = [
    ("delete files older than a week", "remove files that are more than 7 days old", "show the current user"),
    ("restart the web server", "restart nginx", "restart my diet on Monday"),
    ("how much memory is free?", "show available RAM", "show available flights"),
]  # fmt: skip


@pytest.mark.slow
def test_meaning_decides_what_is_near(minilm: MiniLMEmbedder, subtests: pytest.Subtests) -> None:
    for statement, near, far in NEAR:
        with subtests.test(statement):
            vectors = minilm.embed([statement, near, far])
            assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.1


def test_each_text_has_a_row_of_unit_length_in_order(minilm: MiniLMEmbedder) -> None:
    vectors = minilm.embed(["a longer statement than the other one", "short"])
    assert isinstance(minilm, Embedder) and minilm.name == "all-minilm-l6-v2-int8"
    assert minilm.embed([]).shape == (0, minilm.dimension)
    assert vectors.shape == (2, minilm.dimension)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1], abs=1e-5)
    assert (vectors[1] == minilm.embed(["short"])[0]).all()


def test_vector_ignores_other_texts_and_words_beyond_the_limit(minilm: MiniLMEmbedder) -> None:
    alone = minilm.embed(STATEMENTS[:1])
    together = minilm.embed([*STATEMENTS, "and a much, much longer one " * 20])
    long = "delete old files " * 200
    cut = minilm.embed([long, long + "and something else entirely"])
    assert (alone[0] == together[0]).all()
    assert (cut[0] == cut[1]).all()


TEXTS = {
    "empty": "",
    "control characters": "\x00\x01",
    "lone surrogate": "\ud800 lone surrogate",
    "Chinese": "删除七天前的文件",
    "combining characters": "e\u0301" * 5_000,
    "100 kB": "rm -rf / " * 12_000,
    "one long word": "a" * 100_000,
}


@pytest.mark.slow
def test_any_text_has_a_vector(minilm: MiniLMEmbedder) -> None:
    lengths = {name: np.linalg.norm(minilm.embed([text])[0]) for name, text in TEXTS.items()}
    assert lengths == pytest.approx(dict.fromkeys(TEXTS, 1), abs=1e-5)


@pytest.mark.slow
def test_threads_share_it(minilm: MiniLMEmbedder) -> None:
    expected = minilm.embed(STATEMENTS)
    start = threading.Barrier(4)
    found: list[bool] = []

    def embed() -> None:
        start.wait()
        found.extend(bool((minilm.embed(STATEMENTS) == expected).all()) for _ in range(5))

    threads = [threading.Thread(target=embed) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found == [True] * 20
