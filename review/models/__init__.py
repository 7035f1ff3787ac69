"""What experts decide: campaigns, items, assignments, scores, decisions, adjudications."""

from __future__ import annotations

from review.models.campaign import Campaign, Case, Item, Member, Rubric
from review.models.score import Adjudication, Decision, Publication, Score
from review.models.work import Assignment, Flag, Reveal, Scratch

__all__ = [
    "Adjudication",
    "Assignment",
    "Campaign",
    "Case",
    "Decision",
    "Flag",
    "Item",
    "Member",
    "Publication",
    "Reveal",
    "Rubric",
    "Score",
    "Scratch",
]
