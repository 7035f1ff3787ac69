"""The list of entries: filters, search, tabs for curators, bulk actions."""
