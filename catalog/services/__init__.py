"""What can be done with the catalogue: a function for each intention, whoever asks."""

from __future__ import annotations

from catalog.details import VersionDetails
from catalog.retrieval import Example, nearest_examples, retrieve
from catalog.services.entries import (
    add_phrasing,
    create_entry,
    lift_suspension,
    remove_phrasing,
    rename,
    suspend,
)
from catalog.services.filling import Filled, fill_in
from catalog.services.importing import (
    ImportReport,
    RowError,
    export_entries,
    import_entries,
    load_starter,
)
from catalog.services.labels import label_match
from catalog.services.publishing import publish, withdraw
from catalog.services.search import Filters, Found, Listed, list_entries, rows_of, search_entries
from catalog.services.uses import (
    Copied,
    Rated,
    TrackRecord,
    record_outcome,
    record_use,
    track_record,
    track_records,
    used_unreviewed,
    warnings_for,
)
from catalog.services.versions import (
    deprecate,
    details_of,
    edit_version,
    revert_to,
    send_back,
    set_details,
    submit_for_review,
    verify,
)
from catalog.vectors import create_index, embed_missing, embedder, ensure_embedding_model

__all__ = [
    "Copied",
    "Example",
    "Filled",
    "Filters",
    "Found",
    "ImportReport",
    "Listed",
    "Rated",
    "RowError",
    "TrackRecord",
    "VersionDetails",
    "add_phrasing",
    "create_entry",
    "create_index",
    "deprecate",
    "details_of",
    "edit_version",
    "embed_missing",
    "embedder",
    "ensure_embedding_model",
    "export_entries",
    "fill_in",
    "import_entries",
    "label_match",
    "lift_suspension",
    "list_entries",
    "load_starter",
    "nearest_examples",
    "publish",
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
    "submit_for_review",
    "suspend",
    "track_record",
    "track_records",
    "used_unreviewed",
    "verify",
    "warnings_for",
    "withdraw",
]
