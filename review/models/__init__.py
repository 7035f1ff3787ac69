"""Models for expert review, such as campaigns, items, assignments, scores, decisions and adjudications."""

from __future__ import annotations

from review.models.assignment import Assignment, Flag, Remark, Reveal, Scratch, SentBack
from review.models.campaign import Campaign, Member, Rubric, scored_elsewhere
from review.models.execution import (
    CampaignCaseSet,
    CaseRevision,
    ExecutionLabel,
    ImportedResult,
)
from review.models.exposure import Exposure
from review.models.item import Case, Item
from review.models.report import ReportLook, ReportPart, ReportSnapshot, Tally, TallyDue
from review.models.score import Adjudication, Decision, Publication, Score
from review.models.transfer import Transfer, TransferLine

__all__ = [
    "Adjudication",
    "Assignment",
    "Campaign",
    "Case",
    "CampaignCaseSet",
    "CaseRevision",
    "ImportedResult",
    "Decision",
    "ExecutionLabel",
    "Exposure",
    "Flag",
    "Item",
    "Member",
    "Publication",
    "Remark",
    "ReportLook",
    "ReportPart",
    "ReportSnapshot",
    "Reveal",
    "Rubric",
    "Score",
    "Scratch",
    "SentBack",
    "Tally",
    "TallyDue",
    "Transfer",
    "TransferLine",
    "scored_elsewhere",
]
