"""What other apps and the commands may do with the catalogue: a function for each intention."""

from __future__ import annotations

from catalog.access import CURATE
from catalog.calibration.services import forget_statement, label_case, label_match, set_threshold
from catalog.curation.services import merge_entries, read_curation_backlog
from catalog.entries.services import (
    add_phrasing,
    create_entry,
    details_of,
    edit_version,
    emergencies_to_confirm,
    fill_in,
    publish,
    record_use,
    roll_back,
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
    probe_sandbox,
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
from catalog.listing.services import forget_views, line_with, search_entries, show_entries
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
    "emergencies_to_confirm",
    "embed_missing",
    "evidence_for",
    "evidence_of",
    "export_entries",
    "fill_in",
    "forget_statement",
    "forget_views",
    "import_entries",
    "keep_case_set",
    "keep_cases",
    "label_case",
    "label_match",
    "line_with",
    "last_execution",
    "load_starter",
    "merge_entries",
    "publish",
    "read_curation_backlog",
    "record_use",
    "probe_sandbox",
    "request_draft_runs",
    "request_run",
    "retrieve",
    "roll_back",
    "run_cases",
    "search_entries",
    "set_threshold",
    "show_entries",
    "suspend",
    "verify",
    "waiting_to_confirm",
    "waiting_to_verify",
    "warnings_for",
    "withdraw",
]
