"""Search by meaning. The search finds the phrasings whose vectors are nearest to a text's vector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from django.db import connection, transaction
from django.db.models import QuerySet
from django.db.models.functions import Cast
from django.utils.translation import gettext as _
from pgvector.django import CosineDistance, VectorField

from catalog.embedding import EmbedderUnavailable
from catalog.models import Embedding, EmbeddingModel
from catalog.retrieval import vector_store
from core.database.key_lists import is_among

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LEAST_COSINE = 0.35  # phrasings with a lower cosine are unrelated
# The index examines one candidate per VECTORS_PER_CANDIDATE vectors, within these bounds. pgvector sets the upper
# bound. With more vectors, the same number of candidates has a lower recall (`python -m bench recall`).
LEAST_CANDIDATES, MOST_CANDIDATES, VECTORS_PER_CANDIDATE = 100, 1_000, 1_000


class Near(NamedTuple):
    """A phrasing near the text, with the cosine similarity of their vectors."""

    phrasing_id: int
    entry_id: int
    cosine: float


@dataclass(frozen=True)
class QueryVector:
    """A text's vector and its embedding model. Only vectors of the same model can be compared."""

    model: EmbeddingModel
    vector: NDArray[np.float32]

    def find_among(self, entry_ids: Sequence[int], *, limit: int) -> list[Near]:
        """Return the nearest phrasings of these entries, nearest first. The entries may be in any state.

        The query reads all vectors of the entries, so pass at most a few thousand entries.
        """
        rows = (
            self._phrasings_of(entry_ids)
            .annotate(distance=self._distance())
            .order_by("distance")
            .values_list("phrasing_id", "phrasing__entry_id", "distance")
        )
        return [Near(phrasing, entry, 1 - distance) for phrasing, entry, distance in rows[:limit]]

    def find(self, *, limit: int) -> list[Near]:
        """Return the nearest phrasings of entries that may answer, nearest first."""
        with transaction.atomic():
            with connection.cursor() as cursor:
                # With an iterative scan, the index returns more rows if the filter removes too many of them.
                cursor.execute(
                    """
                    SELECT set_config('hnsw.iterative_scan', 'strict_order', true), set_config(
                        'hnsw.ef_search',
                        least(%s, greatest(%s, (
                            SELECT ceil(reltuples / %s) FROM pg_class WHERE oid = to_regclass(%s)
                        )))::integer::text,
                        true
                    )
                    """,
                    [
                        MOST_CANDIDATES,
                        LEAST_CANDIDATES,
                        VECTORS_PER_CANDIDATE,
                        self.model.index_name,
                    ],
                )
            return [
                Near(phrasing, entry, 1 - distance)
                for phrasing, entry, distance in self.nearest_first()[:limit]
            ]

    def nearest_first(self) -> QuerySet[Embedding, tuple[int, int, float]]:
        """Return the query for `find`. Its conditions match the partial index."""
        return (
            Embedding.objects.filter(model=self.model, searchable=True)
            .annotate(distance=self._distance())
            .order_by("distance")
            .values_list("phrasing_id", "phrasing__entry_id", "distance")
        )

    def cosines(self, entry_ids: Sequence[int]) -> dict[int, float]:
        """Return the cosines of these entries' phrasings, by phrasing key. Phrasings without a vector are omitted."""
        rows = (
            self._phrasings_of(entry_ids)
            .annotate(distance=self._distance())
            .values_list("phrasing_id", "distance")
        )
        return {pk: 1 - distance for pk, distance in rows}

    def _phrasings_of(self, entry_ids: Sequence[int]) -> QuerySet[Embedding]:
        among = is_among("phrasing__entry_id", entry_ids)
        return Embedding.objects.filter(among, model=self.model)

    def _distance(self) -> CosineDistance:
        typed = Cast("vector", VectorField(dimensions=self.model.dimension))
        return CosineDistance(typed, self.vector)


class Degraded(Exception):
    """Texts can't be compared by meaning at the moment. The message gives users the reason."""


def embed_query(text: str) -> QueryVector:
    """Return the text's vector under the current model. Raises Degraded."""
    model = vector_store.current_model()
    if model is None:
        raise Degraded(_("There are no vectors yet, so the search used keywords only."))
    try:
        return QueryVector(model, vector_store.embed_with(model, [text])[0])
    except EmbedderUnavailable as error:
        raise Degraded(
            _("The embedding model is not available, so the search used keywords only: %(why)s")
            % {"why": error}
        ) from error
