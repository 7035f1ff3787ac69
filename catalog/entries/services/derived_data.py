"""Update the data derived from entries: search documents, vectors and the comparison with other entries."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction

from catalog.embedding import EmbedderUnavailable
from catalog.models import Entry
from catalog.retrieval import tasks, text_search, vector_store

AT_ONCE = 16  # phrasings embedded in the request, at about 10 ms each


def refresh(entry_ids: Sequence[int]) -> None:
    """Update the data derived from these entries. Call this function in the transaction that changes the entries."""
    Entry.objects.filter(pk__in=entry_ids).exclude(compared_at=None).update(compared_at=None)
    text_search.refresh_documents(entry_ids)
    vector_store.refresh_searchable(entry_ids)
    # Use `robust=True`, because the change is already committed and a failing embedder or broker must not undo it.
    transaction.on_commit(_make_vectors, robust=True)


def _make_vectors() -> None:
    """Compute a few vectors now, so that the next search finds the change. A background task computes the rest."""
    try:
        more = vector_store.embed_missing(limit=AT_ONCE) >= AT_ONCE
    except EmbedderUnavailable:
        more = True
    if more:
        tasks.embed_missing.delay()
