"""What other apps and the commands may do with the catalogue: a function for each intention."""

from __future__ import annotations

from catalog.access import CURATE
from catalog.calibration.services import forget_statement, label_case, label_match, set_threshold
from catalog.curation.services import merge_entries
from catalog.entries.services import (
    add_phrasing,
    create_entry,
    details_of,
    edit_version,
    publish,
    record_use,
    suspend,
    verify,
    waiting_to_confirm,
    waiting_to_verify,
    warnings_for,
    withdraw,
)
from catalog.evidence.services import (
    StatementEvidence,
    add_cases,
    evidence_for,
    evidence_of,
    keep_case_set,
    keep_cases,
    last_execution,
    report_sandbox,
    request_draft_runs,
    request_run,
    run_cases,
)
from catalog.exchange.services import (
    ImportOutcome,
    ImportReport,
    export_entries,
    import_entries,
    load_starter,
)
from catalog.listing.services import search_entries
from catalog.retrieval.services import embed_missing, retrieve

__all__ = [
    "CURATE",
    "ImportReport",
    "StatementEvidence",
    "ImportOutcome",
    "add_cases",
    "add_phrasing",
    "create_entry",
    "details_of",
    "edit_version",
    "embed_missing",
    "evidence_for",
    "evidence_of",
    "export_entries",
    "forget_statement",
    "import_entries",
    "keep_case_set",
    "keep_cases",
    "label_case",
    "label_match",
    "last_execution",
    "load_starter",
    "merge_entries",
    "publish",
    "record_use",
    "report_sandbox",
    "request_draft_runs",
    "request_run",
    "retrieve",
    "run_cases",
    "search_entries",
    "set_threshold",
    "suspend",
    "verify",
    "waiting_to_confirm",
    "waiting_to_verify",
    "warnings_for",
    "withdraw",
]
