"""Curators' work: near-duplicates, merges, rechecks, tags, Django's admin."""
