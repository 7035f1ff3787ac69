"""Cases and their results: a function for each intention, whoever asks."""

from __future__ import annotations

from catalog.evidence.services.case_sets import (
    add_cases,
    kept_cases,
    remove_cases,
    share_cases,
    unshare_cases,
)
from catalog.evidence.services.changes import changed_evidence, mark_change_seen, note_result
from catalog.evidence.services.continuous import (
    delete_old_runs,
    probe_sandbox,
    request_all_runs,
    request_runs,
    request_runs_of,
)
from catalog.evidence.services.running import carry_out_run, request_run, run_cases
from catalog.evidence.services.sandboxes import current_sandbox, last_report
from catalog.evidence.services.statements import (
    StatementEvidence,
    evidence_for,
    forget_scripts,
    keep_cases,
    request_draft_runs,
)
from catalog.evidence.services.storage import (
    changed_checks,
    changed_environment,
    keep_case_set,
    last_execution,
    store_execution,
)
from catalog.evidence.services.summaries import Evidence, case_rows, evidence_of

__all__ = [
    "Evidence",
    "StatementEvidence",
    "add_cases",
    "carry_out_run",
    "case_rows",
    "changed_checks",
    "changed_environment",
    "changed_evidence",
    "current_sandbox",
    "delete_old_runs",
    "evidence_for",
    "evidence_of",
    "forget_scripts",
    "keep_case_set",
    "keep_cases",
    "kept_cases",
    "last_execution",
    "last_report",
    "mark_change_seen",
    "note_result",
    "probe_sandbox",
    "remove_cases",
    "request_all_runs",
    "request_draft_runs",
    "request_run",
    "request_runs",
    "request_runs_of",
    "run_cases",
    "share_cases",
    "store_execution",
    "unshare_cases",
]
