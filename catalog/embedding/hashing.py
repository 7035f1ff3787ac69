"""An embedder without a model, for tests and as a fallback. The embedder compares spelling rather than meaning."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from catalog.embedding.types import Vectors
from core.lazy_numpy import np

_WORD = re.compile(r"\w+|[^\w\s]")
_LONGEST_TEXT = 20_000  # characters; the rest of a longer text is ignored


class HashingEmbedder:
    """Hashes words and their character trigrams into a deterministic vector.

    Each feature adds 1 or -1 at one position. Its CRC-32 determines the sign and the position, so collisions cancel out
    as often as they add up.
    """

    def __init__(self, cache: Path | None = None, *, dimension: int = 384) -> None:
        """Accept `cache` for compatibility with other embedders, but ignore it."""
        self.dimension = dimension
        self.name = f"hashing-trigrams-{dimension}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row of unit length for each text."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for feature in _features(text[:_LONGEST_TEXT]):
                code = zlib.crc32(feature.encode("utf-8", "replace"))
                row[(code >> 1) % self.dimension] += 1.0 if code & 1 else -1.0
            if not row.any():  # All features canceled out, but a zero vector can't be normalized.
                row[0] = 1.0
            row /= np.linalg.norm(row)
        return vectors


def _features(text: str) -> Iterator[str]:
    yield ""  # ensures that an empty text has a feature
    for word in _WORD.findall(text.lower()):
        yield word
        padded = f"^{word}$"
        for start in range(len(padded) - 2):
            yield padded[start : start + 3]
