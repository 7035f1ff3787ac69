"""The public interface of retrieval, for pages, the API and other packages."""

from __future__ import annotations

from catalog.retrieval.alike import Alike, find_alike
from catalog.retrieval.answers import Rivals, as_document, retrieve, rivals_of
from catalog.retrieval.examples import retrieve_examples, reveals_answer
from catalog.retrieval.scoring import current_scoring
from catalog.retrieval.vector_store import (
    create_index,
    embed_missing,
    embedder,
    ensure_embedding_model,
)

__all__ = [
    "Alike",
    "Rivals",
    "as_document",
    "create_index",
    "current_scoring",
    "embed_missing",
    "embedder",
    "ensure_embedding_model",
    "find_alike",
    "retrieve",
    "retrieve_examples",
    "reveals_answer",
    "rivals_of",
]
