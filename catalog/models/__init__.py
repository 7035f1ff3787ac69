"""The verified catalogue: entries, versions, wordings, vectors, labels, uses; and what curators do with them."""

from __future__ import annotations

from catalog.models.curation import Merge, NearDuplicate, Recheck, Rollback
from catalog.models.embedding import Embedding, EmbeddingModel
from catalog.models.entry import Entry, Tag, Version, VersionEvent
from catalog.models.job import Job
from catalog.models.phrasing import Phrasing
from catalog.models.relevance import (
    LabelScore,
    MatchLabel,
    ScoringChoice,
    ScoringModel,
    Threshold,
)
from catalog.models.saved_view import SavedView
from catalog.models.use import Use

__all__ = [
    "Embedding",
    "EmbeddingModel",
    "Entry",
    "Job",
    "LabelScore",
    "MatchLabel",
    "Merge",
    "NearDuplicate",
    "Phrasing",
    "Recheck",
    "Rollback",
    "SavedView",
    "ScoringChoice",
    "ScoringModel",
    "Tag",
    "Threshold",
    "Use",
    "Version",
    "VersionEvent",
]
