"""Pages for the list of entries."""
