"""Statements become vectors of unit length, so that nearness in meaning is a dot product.

Pure: neither Django nor Celery, and no network. Vectors of two embedders never meet; what keeps
them apart is `Embedder.name`, which changes with anything that changes the vectors.
"""

from catalog.embedding.hashing import HashingEmbedder
from catalog.embedding.loading import load_embedder
from catalog.embedding.types import Embedder, EmbedderUnavailable, Vectors

__all__ = ["Embedder", "EmbedderUnavailable", "HashingEmbedder", "Vectors", "load_embedder"]
