"""Background work of the catalogue; what there is to do is a query, so no message is missed."""

from __future__ import annotations

import logging

from celery import shared_task

from catalog import vectors
from catalog.embedding import EmbedderUnavailable

logger = logging.getLogger(__name__)


@shared_task(name="catalog.embed_missing")
def embed_missing() -> None:
    """Give every phrasing its vector, and finish a change of the embedding model."""
    try:
        vectors.embed_missing()
    except EmbedderUnavailable as error:
        logger.warning("No vectors are made, so statements are searched by words only: %s", error)
