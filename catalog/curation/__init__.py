"""Curation: near-duplicates, merges, rechecks, tags and the Django admin."""
