"""The pipeline's models: actions, configurations, runs, drafts and the ledger of model calls."""

from __future__ import annotations

from pipeline.models.action import Action
from pipeline.models.cases import WrittenCases
from pipeline.models.configuration import (
    Configuration,
    Endpoint,
    Price,
    PromptVersion,
    RoleSetting,
)
from pipeline.models.draft import Assessment, Draft, DraftFinding, DraftUse, Feedback, Refinement
from pipeline.models.entry_description import EntryDescription
from pipeline.models.idempotency_key import IdempotencyKey
from pipeline.models.ledger import Attempt, ModelCall
from pipeline.models.message_batch import MessageBatch
from pipeline.models.run import Batch, RetrievedMatch, Run, Stage
from pipeline.models.shortening import Shortening
from pipeline.models.spending import Spending
from pipeline.models.worker import Worker

__all__ = [
    "Action",
    "Assessment",
    "Attempt",
    "Batch",
    "Configuration",
    "Draft",
    "DraftFinding",
    "DraftUse",
    "Endpoint",
    "EntryDescription",
    "Feedback",
    "IdempotencyKey",
    "MessageBatch",
    "ModelCall",
    "Price",
    "PromptVersion",
    "Refinement",
    "RetrievedMatch",
    "RoleSetting",
    "Run",
    "Shortening",
    "Spending",
    "Stage",
    "Worker",
    "WrittenCases",
]
