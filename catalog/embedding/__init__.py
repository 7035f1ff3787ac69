"""Turns statements into vectors of unit length, so that similarity of meaning is a dot product.

Uses neither Django nor Celery nor the network. Vectors of different embedders are never compared, because
`Embedder.name` changes with anything that changes the vectors.
"""

from catalog.embedding.hashing import HashingEmbedder
from catalog.embedding.loading import load_embedder
from catalog.embedding.types import Embedder, EmbedderUnavailable, Vectors

__all__ = ["Embedder", "EmbedderUnavailable", "HashingEmbedder", "Vectors", "load_embedder"]
