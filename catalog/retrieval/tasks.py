"""Compute vectors in the background. A query finds missing vectors, so a lost message does no harm."""

from __future__ import annotations

import logging
from time import monotonic

from celery import shared_task

from catalog.embedding import EmbedderUnavailable
from catalog.retrieval import vector_store
from core.database.advisory_lock import FILL_VECTORS, only_one

logger = logging.getLogger(__name__)

AT_A_TIME = 512  # vectors per step, which take a few seconds
LONGEST = 10.0  # seconds per task run, so that a worker can stop soon


@shared_task(name="catalog.embed_missing")
def embed_missing() -> None:
    """Compute all missing vectors, and complete a change of the embedding model.

    Only one worker does this at a time. Vectors are stored in small steps, so that they remain if the worker is killed.
    """
    with only_one(FILL_VECTORS) as is_mine:
        if not is_mine:
            return
        try:
            more = _work_a_while()
        except EmbedderUnavailable as error:
            logger.warning(
                "Vectors can't be computed. Phrasings without vectors are searched by words only: %s",
                error,
            )
            return
    if more:
        embed_missing.delay()


def _work_a_while() -> bool:
    """Compute vectors for a limited time. Return whether more vectors are missing."""
    vector_store.clear_retired()
    begun = monotonic()
    while stored := vector_store.embed_missing(limit=AT_A_TIME):
        if monotonic() - begun > LONGEST:
            return stored >= AT_A_TIME
    return False
