"""Runs and their drafts: start, cancellation, pages, comparison, edits and the API."""
