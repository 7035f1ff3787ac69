"""Counts: what each item contributes to a campaign's figures, kept up as scores arrive."""
