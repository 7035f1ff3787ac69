"""Services that import entries from files and export them to files."""

from __future__ import annotations

from catalog.exchange.services.exporting import export_entries, version_files
from catalog.exchange.services.import_jobs import (
    can_start,
    cancel_import,
    carry_out_import,
    preview_import,
    start_import,
)
from catalog.exchange.services.import_report import (
    ImportOutcome,
    ImportReport,
    RowError,
    RowOutcome,
)
from catalog.exchange.services.importing import import_entries, import_rows, load_starter
from catalog.exchange.services.proposals import propose, read_proposal

__all__ = [
    "ImportReport",
    "ImportOutcome",
    "RowError",
    "RowOutcome",
    "can_start",
    "cancel_import",
    "carry_out_import",
    "export_entries",
    "import_entries",
    "import_rows",
    "load_starter",
    "preview_import",
    "propose",
    "read_proposal",
    "start_import",
    "version_files",
]
