"""The list of entries: filters, search, tabs for curators, one action on many entries."""
