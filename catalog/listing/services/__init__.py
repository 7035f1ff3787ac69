"""The list of entries: filtered, searched, and many changed at once."""

from __future__ import annotations

from catalog.listing.services.bulk import (
    BulkOrder,
    BulkOutcome,
    BulkStep,
    Deed,
    carry_out_bulk,
    plan_bulk,
)
from catalog.listing.services.filters import Filters
from catalog.listing.services.search import (
    Listed,
    SearchResult,
    list_entries,
    rows_of,
    search_entries,
)

__all__ = [
    "Deed",
    "Filters",
    "SearchResult",
    "Listed",
    "BulkOrder",
    "BulkOutcome",
    "BulkStep",
    "carry_out_bulk",
    "list_entries",
    "plan_bulk",
    "rows_of",
    "search_entries",
]
