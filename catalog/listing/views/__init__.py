"""Pages of the list of entries."""
