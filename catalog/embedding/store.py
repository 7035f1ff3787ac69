"""The folder of a built model, which is created once, checked on each load, and safe for concurrent processes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from catalog.embedding.types import EmbedderUnavailable
from catalog.embedding.weights import digest_of, find_model_folder

_SUMS = "SHA256SUMS"  # in the format of sha256sum -c
_PROJECT = Path(__file__).resolve().parents[2]
_LONGEST_BUILD = 120  # seconds; a build takes about two


def open_model(cache: Path, name: str) -> Path:
    """Return the folder of the model `name` in `cache`. Build the model if it is missing or damaged.

    The files are checked against the hashes stored with them. Raises `EmbedderUnavailable`.
    """
    folder = cache / name
    if is_intact(folder):
        return folder
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{name}-", dir=cache) as scratch:
            _publish(_build(Path(scratch) / "new"), folder, aside=Path(scratch) / "old")
    except OSError as error:
        raise EmbedderUnavailable(f"the model cannot be written to {folder}: {error}") from error
    if not is_intact(folder):
        raise EmbedderUnavailable(f"{folder} is damaged: delete it and start again")
    return folder


def is_intact(folder: Path) -> bool:
    """Return whether the hash file exists and every file matches its hash."""
    try:
        lines = (folder / _SUMS).read_text(encoding="utf-8").splitlines()
        sums = [line.split("  ", 1) for line in lines]
        return bool(sums) and all(digest_of(folder / name) == digest for digest, name in sums)
    except (OSError, ValueError):
        return False


def _build(folder: Path) -> Path:
    source = find_model_folder()
    folder.mkdir()
    shutil.copy(source / "tokenizer.json", folder)
    command = [sys.executable, "-m", "catalog.embedding.quantised"]
    try:
        subprocess.run(
            [*command, str(source / "model.safetensors"), str(folder.resolve())],
            cwd=_PROJECT,
            capture_output=True,
            text=True,
            timeout=_LONGEST_BUILD,
            check=True,
        )
    except subprocess.CalledProcessError as error:
        reason = (error.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise EmbedderUnavailable(f"the model cannot be built: {reason}") from error
    except subprocess.TimeoutExpired as error:
        raise EmbedderUnavailable(
            f"the model was not built within {_LONGEST_BUILD} seconds"
        ) from error
    names = sorted(path.name for path in folder.iterdir())
    record = "".join(f"{digest_of(folder / name)}  {name}\n" for name in names)
    (folder / _SUMS).write_text(record, encoding="utf-8")
    return folder


def _publish(new: Path, folder: Path, *, aside: Path) -> None:
    """Rename `new` to `folder`. Keep an intact folder from another process, and move a damaged folder to `aside`."""
    try:
        os.rename(new, folder)
    except OSError:
        if is_intact(folder):
            return
        os.rename(folder, aside)
        os.rename(new, folder)
