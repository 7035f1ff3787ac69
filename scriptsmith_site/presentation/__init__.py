"""Presentation of scripts, diffs and charts on pages."""
