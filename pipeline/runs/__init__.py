"""Runs and their drafts: starting and cancelling, the page of a run, comparison, edits, and the API."""
