"""Exports a campaign to a file."""
