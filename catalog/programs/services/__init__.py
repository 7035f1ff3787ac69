"""Services for programs, called by the API and by agent tools."""

from __future__ import annotations

from catalog.programs.services.outcome_reports import mark_seen, report_outcome
from catalog.programs.services.outside_search import find_outside
from catalog.programs.services.runner_exports import ExportedFile, Runner, export_for
from catalog.programs.services.script_lookup import (
    KnownScript,
    ScriptStatus,
    look_up_hash,
    look_up_text,
)
from catalog.programs.services.verified_scripts import VerifiedScript, hand_over, verification_words

__all__ = [
    "ExportedFile",
    "Runner",
    "export_for",
    "find_outside",
    "KnownScript",
    "ScriptStatus",
    "VerifiedScript",
    "hand_over",
    "look_up_hash",
    "look_up_text",
    "mark_seen",
    "report_outcome",
    "verification_words",
]
