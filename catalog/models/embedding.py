"""Vectors of phrasings: one table for all embedding models, with a partial HNSW index per model."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from pgvector.django import VectorField

from catalog.models.phrasing import Phrasing


class EmbeddingModel(models.Model):
    """An embedding model with stored vectors. Searches use only the vectors of the current model."""

    class State(models.TextChoices):
        BUILDING = "building", _("Building")
        CURRENT = "current", _("Current")
        RETIRED = "retired", _("Retired")

    name = models.CharField(_("name"), max_length=100, unique=True)
    # The embedder in the format of SCRIPTSMITH_EMBEDDER. It loads the model while the next model is being built.
    spec = models.CharField(_("setting"), max_length=200)
    dimension = models.PositiveIntegerField(_("dimension"))
    state = models.CharField(_("state"), max_length=10, choices=State, default=State.BUILDING)
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    # Why the vectors can't be built now, or empty.
    trouble = models.TextField(_("problem"), blank=True, default="", db_default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["state"], condition=Q(state="current"), name="embedding_model_one_current"
            ),
            models.CheckConstraint(
                condition=Q(state__in=["building", "current", "retired"]),
                name="embedding_model_state_legal",
            ),
            # pgvector's HNSW index supports at most 2,000 dimensions for the `vector` type.
            models.CheckConstraint(
                condition=Q(dimension__gte=1, dimension__lte=2000),
                name="embedding_model_dimension_indexable",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def index_name(self) -> str:
        """Return the name of this model's partial HNSW index."""
        return f"embedding_hnsw_{self.pk}"


class Embedding(models.Model):
    """The vector of a Phrasing under an EmbeddingModel.

    `searchable` is True if the Entry may answer (verified and not suspended). The value is stored here because a
    partial index can only use columns of its own table. Filtering after the search would ruin the recall.
    """

    phrasing = models.ForeignKey(Phrasing, models.CASCADE, related_name="embeddings")
    model = models.ForeignKey(EmbeddingModel, models.CASCADE, related_name="embeddings")
    vector = VectorField()
    searchable = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["phrasing", "model"], name="embedding_once_a_phrasing_and_model"
            )
        ]

    def __str__(self) -> str:
        return f"{self.phrasing_id} under {self.model_id}"
