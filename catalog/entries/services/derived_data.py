"""Updates the data derived from entries: their search text, their vectors, their place in comparisons."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction

from catalog.embedding import EmbedderUnavailable
from catalog.models import Entry
from catalog.retrieval import tasks, text_search, vector_store

AT_ONCE = 16  # phrasings whose vectors are made before the answer: about 10 ms each


def refresh(entry_ids: Sequence[int]) -> None:
    """Update the data derived from these entries, in the transaction that changed them."""
    Entry.objects.filter(pk__in=entry_ids).exclude(compared_at=None).update(compared_at=None)
    text_search.refresh_documents(entry_ids)
    vector_store.refresh_searchable(entry_ids)
    # Robust: an embedder or a broker that is down must not fail what is already committed.
    transaction.on_commit(_make_vectors, robust=True)


def _make_vectors() -> None:
    """Compute vectors at once for a person's change, so that the next statement finds it; those of imports are
    computed in the background.
    """
    try:
        more = vector_store.embed_missing(limit=AT_ONCE) >= AT_ONCE
    except EmbedderUnavailable:
        more = True
    if more:
        tasks.embed_missing.delay()
