"""Precomputed vectors of the starter catalogue. A new installation can use them without the embedding model.

`python -m bench.ship vectors` writes the file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from catalog.embedding.types import Embedder, Vectors
from core.lazy_numpy import np

FILE = Path(__file__).resolve().parents[1] / "starter" / "vectors.npz"


def hash_text(text: str) -> bytes:
    """Return the text's key in the vector file."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def shipped_vectors(embedder: str, file: Path = FILE) -> Mapping[bytes, Vectors]:
    """Return the shipped vectors by text hash, or an empty mapping if they come from another embedder."""
    if not file.is_file():
        return {}
    with np.load(file) as arrays:
        if str(arrays["embedder"]) != embedder:
            return {}
        vectors = arrays["vectors"].astype(np.float32)
        keys = [key.tobytes() for key in arrays["texts"]]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)  # float16 has changed the length
    return dict(zip(keys, vectors, strict=True))


def write_vectors(embedder: Embedder, texts: Iterable[str], file: Path = FILE) -> None:
    """Write the vectors of these texts as float16, which changes a cosine by less than 0.001."""
    by_key = {hash_text(text): text for text in texts}
    keys = sorted(by_key)
    np.savez(
        file,
        embedder=np.array(embedder.name),
        texts=np.frombuffer(b"".join(keys), dtype=np.uint8).reshape(len(keys), -1),
        vectors=embedder.embed([by_key[key] for key in keys]).astype(np.float16),
    )
