"""Tests that the shipped vectors match the starter catalogue and the embedder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bench.ship.vectors import starter_texts
from catalog.embedding import HashingEmbedder
from catalog.embedding.minilm import MiniLMEmbedder
from catalog.embedding.shipped import hash_text, shipped_vectors, write_vectors


def test_shipped_vectors_are_of_every_starter_text_and_of_nothing_else() -> None:
    assert shipped_vectors(MiniLMEmbedder.name).keys() == set(map(hash_text, starter_texts()))


def test_written_vectors_are_read_for_their_embedder_only(tmp_path: Path) -> None:
    embedder, file = HashingEmbedder(), tmp_path / "vectors.npz"
    texts = ["restart nginx", "", "\ud800"]
    write_vectors(embedder, texts, file)
    found = shipped_vectors(embedder.name, file)
    for text, vector in zip(texts, embedder.embed(texts), strict=True):
        assert found[hash_text(text)] @ vector == pytest.approx(1, abs=1e-4)
        assert np.linalg.norm(found[hash_text(text)]) == pytest.approx(1)
    assert not shipped_vectors("another", file)
    assert not shipped_vectors(embedder.name, tmp_path / "missing.npz")


@pytest.mark.slow
def test_shipped_vectors_are_those_that_the_embedder_computes(minilm: MiniLMEmbedder) -> None:
    shipped = shipped_vectors(minilm.name)
    texts = sorted(set(starter_texts()))[::20]
    for text, vector in zip(texts, minilm.embed(texts), strict=True):
        assert shipped[hash_text(text)] @ vector > 0.999, text
