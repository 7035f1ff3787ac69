"""The catalogue's models: entries, versions, phrasings, vectors, labels, uses, evidence and curators' decisions."""

from __future__ import annotations

from catalog.models.curation import Merge, NearDuplicate, Recheck, Rollback
from catalog.models.embedding import Embedding, EmbeddingModel
from catalog.models.entry import Entry, Tag, Version, VersionEvent
from catalog.models.evidence import (
    CaseRun,
    CaseSet,
    CheckResult,
    CheckState,
    EntryCases,
    EvidenceChange,
    Execution,
    SandboxReport,
)
from catalog.models.job import Job
from catalog.models.outcome_report import OutcomeReport
from catalog.models.phrasing import Phrasing
from catalog.models.relevance import (
    LabelScore,
    MatchLabel,
    ScoringChoice,
    ScoringModel,
    Threshold,
)
from catalog.models.saved_view import SavedView
from catalog.models.tool_rule import ToolRule
from catalog.models.use import Use

__all__ = [
    "CaseRun",
    "CaseSet",
    "CheckResult",
    "CheckState",
    "Embedding",
    "EmbeddingModel",
    "Entry",
    "EntryCases",
    "EvidenceChange",
    "Execution",
    "Job",
    "LabelScore",
    "MatchLabel",
    "Merge",
    "NearDuplicate",
    "OutcomeReport",
    "Phrasing",
    "Recheck",
    "Rollback",
    "SavedView",
    "SandboxReport",
    "ScoringChoice",
    "ScoringModel",
    "Tag",
    "Threshold",
    "ToolRule",
    "Use",
    "Version",
    "VersionEvent",
]
