"""Analysis of a single statement or a single script."""
