"""Embed statements as unit vectors. The dot product of two vectors measures how similar their meanings are.

This package uses neither Django nor Celery nor the network. Every change to the vectors must change `Embedder.name`,
so that vectors of different embedders are never compared.
"""

from catalog.embedding.hashing import HashingEmbedder
from catalog.embedding.loading import load_embedder
from catalog.embedding.types import Embedder, EmbedderUnavailable, Vectors

__all__ = ["Embedder", "EmbedderUnavailable", "HashingEmbedder", "Vectors", "load_embedder"]
