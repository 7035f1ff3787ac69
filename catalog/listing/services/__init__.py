"""The list of entries: filters, search, saved views and bulk actions."""

from __future__ import annotations

from catalog.listing.services.bulk import (
    BulkOrder,
    BulkOutcome,
    BulkStep,
    Deed,
    carry_out_bulk,
    plan_bulk,
)
from catalog.listing.services.facets import Facets, count_facets
from catalog.listing.services.filters import Filters
from catalog.listing.services.order import Sort, in_order
from catalog.listing.services.saved_views import forget_views, remove_view, save_view, views_of
from catalog.listing.services.search import (
    Listed,
    SearchResult,
    line_with,
    list_entries,
    rows_of,
    search_entries,
    show_entries,
)

__all__ = [
    "Deed",
    "Filters",
    "SearchResult",
    "Listed",
    "BulkOrder",
    "BulkOutcome",
    "BulkStep",
    "Facets",
    "Sort",
    "carry_out_bulk",
    "count_facets",
    "forget_views",
    "in_order",
    "line_with",
    "list_entries",
    "plan_bulk",
    "remove_view",
    "save_view",
    "views_of",
    "rows_of",
    "search_entries",
    "show_entries",
]
