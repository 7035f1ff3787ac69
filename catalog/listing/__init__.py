"""The list of entries: filters, search, work lists and bulk actions."""
