"""Tests that stored models have verified hashes, are repaired if damaged, and can be built concurrently."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from catalog.embedding import EmbedderUnavailable, weights
from catalog.embedding.minilm import MiniLMEmbedder
from catalog.embedding.store import is_intact, open_model

ROOT = Path(__file__).resolve().parents[3]
NAME = MiniLMEmbedder.name


def test_a_built_model_is_used_as_it_is(model_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "PACKAGE", "no_such_package")
    assert open_model(model_cache, NAME) == model_cache / NAME


DAMAGE: dict[str, Callable[[Path], object]] = {
    "cut short": lambda folder: (folder / "model.bin").write_bytes(b"short"),
    "a file is missing": lambda folder: (folder / "tokenizer.json").unlink(),
    "empty record": lambda folder: (folder / "SHA256SUMS").write_text(""),
    "no text": lambda folder: (folder / "SHA256SUMS").write_bytes(b"\xff"),
    "no record": lambda folder: (folder / "SHA256SUMS").unlink(),
}


def test_a_damaged_folder_is_not_trusted(tmp_path: Path) -> None:
    for name, damage in DAMAGE.items():
        folder = tmp_path / name
        folder.mkdir()
        (folder / "model.bin").write_bytes(b"numbers")
        (folder / "tokenizer.json").write_text("{}")
        sums = [f"{weights.digest_of(path)}  {path.name}\n" for path in folder.iterdir()]
        (folder / "SHA256SUMS").write_text("".join(sums))
        assert is_intact(folder)
        damage(folder)
        assert not is_intact(folder), name


@pytest.mark.slow
@pytest.mark.usefixtures("model_cache")
def test_a_damaged_model_is_built_again(tmp_path: Path) -> None:
    folder = tmp_path / NAME
    folder.mkdir()
    (folder / "model.onnx").write_bytes(b"half a file")
    vectors = MiniLMEmbedder(tmp_path).embed(["restart nginx"])
    assert vectors.shape == (1, 384)
    assert is_intact(folder)
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


@pytest.mark.slow
@pytest.mark.usefixtures("model_cache")
def test_two_processes_may_build_it_at_once(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from catalog.embedding import load_embedder;"
        "print(load_embedder('minilm', Path(sys.argv[1])).embed(['x']).shape)"
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    answers = [process.communicate(timeout=100)[0] for process in running]

    assert answers == ["(1, 384)\n", "(1, 384)\n"]
    assert is_intact(tmp_path / NAME)
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


def test_missing_weights_name_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "PACKAGE", "no_such_package")
    with pytest.raises(EmbedderUnavailable, match="requirements-model.txt") as caught:
        MiniLMEmbedder(tmp_path).load()
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("model_cache")
def test_unusable_weights_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(EmbedderUnavailable, match="cannot be written"):
        MiniLMEmbedder(tmp_path / "file").load()
    monkeypatch.setitem(weights.DIGESTS, "tokenizer.json", "0" * 64)
    with pytest.raises(EmbedderUnavailable, match="not the original"):
        MiniLMEmbedder(tmp_path).load()
