"""Services for cases and their results."""

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
    delete_unserved_runs,
    keep_reporting,
    probe_sandbox,
    request_all_runs,
    request_runs,
)
from catalog.evidence.services.outlines import zip_cases
from catalog.evidence.services.revisions import (
    Place,
    carry_over,
    case_text,
    describe_place,
    new_case_text,
    put_case,
    read_place,
    strike_from,
)
from catalog.evidence.services.running import (
    carry_out_run,
    request_run,
    results_waiting,
    run_cases,
)
from catalog.evidence.services.sandboxes import (
    current_sandbox,
    is_served,
    last_report,
    sandbox_trouble,
)
from catalog.evidence.services.statements import (
    StatementEvidence,
    all_case_sets,
    case_sets_for,
    case_sets_of_statements,
    evidence_for,
    evidence_in,
    forget_case_sets,
    forget_scripts,
    request_draft_runs,
    request_missing_runs,
)
from catalog.evidence.services.storage import (
    changed_checks,
    changed_environment,
    forget_author,
    hash_statement,
    keep_case_set,
    last_execution,
    newest_results,
    store_execution,
    withdraw_case_set,
)
from catalog.evidence.services.summaries import CaseRow, Evidence, case_rows, evidence_of

__all__ = [
    "CaseRow",
    "Evidence",
    "Place",
    "StatementEvidence",
    "add_cases",
    "carry_out_run",
    "case_rows",
    "all_case_sets",
    "case_sets_for",
    "case_sets_of_statements",
    "case_text",
    "changed_checks",
    "changed_environment",
    "changed_evidence",
    "current_sandbox",
    "delete_old_runs",
    "delete_unserved_runs",
    "describe_place",
    "evidence_for",
    "evidence_in",
    "evidence_of",
    "forget_case_sets",
    "forget_scripts",
    "forget_author",
    "hash_statement",
    "is_served",
    "keep_case_set",
    "keep_reporting",
    "kept_cases",
    "last_execution",
    "last_report",
    "mark_change_seen",
    "new_case_text",
    "newest_results",
    "note_result",
    "probe_sandbox",
    "put_case",
    "read_place",
    "remove_cases",
    "request_all_runs",
    "request_draft_runs",
    "request_missing_runs",
    "request_run",
    "request_runs",
    "results_waiting",
    "run_cases",
    "sandbox_trouble",
    "share_cases",
    "store_execution",
    "carry_over",
    "strike_from",
    "unshare_cases",
    "withdraw_case_set",
    "zip_cases",
]
