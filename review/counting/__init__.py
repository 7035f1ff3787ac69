"""Compute each item's contribution to a campaign's figures, and update the counts as scores arrive."""
