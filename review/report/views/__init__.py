"""Pages of a study's report."""
