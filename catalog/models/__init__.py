"""The verified catalogue: entries, their versions and wordings, vectors, labels and uses."""

from __future__ import annotations

from catalog.models.embedding import Embedding, EmbeddingModel
from catalog.models.entry import Entry, Phrasing, Tag, Version, VersionEvent
from catalog.models.relevance import MatchLabel, Threshold
from catalog.models.use import Use

__all__ = [
    "Embedding",
    "EmbeddingModel",
    "Entry",
    "MatchLabel",
    "Phrasing",
    "Tag",
    "Threshold",
    "Use",
    "Version",
    "VersionEvent",
]
