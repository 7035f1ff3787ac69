"""Counts what each item contributes to a campaign's figures and updates the counts as scores arrive."""
