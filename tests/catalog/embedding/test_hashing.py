"""The embedder without a model: spelling in, the same vector out, everywhere and always."""

from __future__ import annotations

import numpy as np
import pytest

from catalog.embedding import Embedder, HashingEmbedder

TEXTS = {
    "a statement": "restart nginx",
    "empty": "",
    "only spaces": " \n\t",
    "only punctuation": "?!",
    "lone surrogate": "\ud800",
    "Chinese": "删除文件",
    "100 kB": "a b " * 25_000,
}


def test_any_text_has_a_vector_of_unit_length(subtests: pytest.Subtests) -> None:
    for name, text in TEXTS.items():
        with subtests.test(name):
            vectors = HashingEmbedder().embed([text])
            assert vectors.shape == (1, 384)
            assert vectors.dtype == np.float32
            assert np.linalg.norm(vectors[0]) == pytest.approx(1, abs=1e-6)


def test_the_same_text_always_has_the_same_vector() -> None:
    vector = HashingEmbedder(dimension=8).embed(["restart nginx"])[0]

    # Written down, because a seed that changes between processes would pass any other check.
    assert vector.tolist() == pytest.approx(
        [-0.277, 0.277, -0.555, 0.555, -0.277, -0.277, 0.0, 0.277], abs=1e-3
    )


def test_like_spelling_is_near() -> None:
    same, like, other = HashingEmbedder().embed(
        ["delete old files in /tmp", "deleting old files in /tmp", "who is logged in?"]
    )

    assert same @ like > 0.7 > 0.3 > same @ other


def test_capitals_do_not_count() -> None:
    one, other = HashingEmbedder().embed(["Restart NGINX", "restart nginx"])

    assert (one == other).all()


def test_its_name_says_what_it_is() -> None:
    embedder = HashingEmbedder(dimension=64)

    assert isinstance(embedder, Embedder)
    assert embedder.name == "hashing-trigrams-64"
    assert embedder.embed([]).shape == (0, 64)
