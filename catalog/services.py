"""What can be done with the catalogue: a function for each intention, whoever asks."""

from __future__ import annotations

from catalog.calibration.services.cases import (
    ToLabel,
    choose_scoring,
    label_case,
    next_case,
    read_cases,
    set_threshold,
    unscored,
)
from catalog.calibration.services.labels import forget_statement, label_match, undo_label
from catalog.calibration.services.scoring_fit import begin_fit
from catalog.curation.services.duplicates import dismiss_pair, open_pairs, to_compare
from catalog.curation.services.merging import (
    MergePlan,
    merge_entries,
    merged_into,
    plan_merge,
    undo_merge,
)
from catalog.curation.services.rechecks import (
    changed_findings,
    compare_findings,
    mark_seen,
    newer_findings,
    to_recheck,
)
from catalog.entries.services.entries import (
    add_phrasing,
    create_entry,
    lift_suspension,
    remove_phrasing,
    rename,
    suspend,
)
from catalog.entries.services.outcomes import Outcomes, by_version, outcomes_of
from catalog.entries.services.parameter_values import Filled, fill_in
from catalog.entries.services.publishing import publish, withdraw
from catalog.entries.services.uses import (
    Copied,
    Rated,
    TrackRecord,
    record_outcome,
    record_use,
    track_record,
    track_records,
    used_unreviewed,
    waiting_to_verify,
    warnings_for,
)
from catalog.entries.services.versions import (
    ChangedDetail,
    compare_details,
    deprecate,
    details_of,
    edit_version,
    revert_to,
    send_back,
    set_details,
    submit_for_review,
    verify,
    verify_again,
)
from catalog.entries.services.wording_confirmation import confirm_phrasing, waiting_to_confirm
from catalog.exchange.services.exporting import export_entries
from catalog.exchange.services.import_plan import ImportReport, Outcome, RowError, RowOutcome
from catalog.exchange.services.importing import import_entries, import_rows, load_starter
from catalog.listing.services.bulk import Deed, Order, Step, carry_out_bulk, plan_bulk
from catalog.listing.services.filters import Filters
from catalog.listing.services.search import Found, Listed, list_entries, rows_of, search_entries
from catalog.retrieval.answers import retrieve
from catalog.retrieval.vector_store import (
    create_index,
    embed_missing,
    embedder,
    ensure_embedding_model,
)
from catalog.version_details import VersionDetails

__all__ = [
    "ChangedDetail",
    "Copied",
    "Deed",
    "Filled",
    "Filters",
    "Found",
    "ImportReport",
    "Listed",
    "MergePlan",
    "Order",
    "Outcome",
    "Outcomes",
    "Rated",
    "RowError",
    "RowOutcome",
    "Step",
    "ToLabel",
    "TrackRecord",
    "VersionDetails",
    "add_phrasing",
    "begin_fit",
    "by_version",
    "carry_out_bulk",
    "changed_findings",
    "choose_scoring",
    "compare_details",
    "compare_findings",
    "confirm_phrasing",
    "create_entry",
    "create_index",
    "deprecate",
    "details_of",
    "dismiss_pair",
    "edit_version",
    "embed_missing",
    "embedder",
    "ensure_embedding_model",
    "export_entries",
    "fill_in",
    "forget_statement",
    "import_entries",
    "import_rows",
    "label_case",
    "label_match",
    "lift_suspension",
    "list_entries",
    "load_starter",
    "mark_seen",
    "merge_entries",
    "merged_into",
    "newer_findings",
    "next_case",
    "open_pairs",
    "outcomes_of",
    "plan_bulk",
    "plan_merge",
    "publish",
    "read_cases",
    "record_outcome",
    "record_use",
    "remove_phrasing",
    "rename",
    "retrieve",
    "revert_to",
    "rows_of",
    "search_entries",
    "send_back",
    "set_details",
    "set_threshold",
    "submit_for_review",
    "suspend",
    "to_compare",
    "to_recheck",
    "track_record",
    "track_records",
    "undo_label",
    "undo_merge",
    "unscored",
    "used_unreviewed",
    "verify",
    "verify_again",
    "waiting_to_confirm",
    "waiting_to_verify",
    "warnings_for",
    "withdraw",
]
