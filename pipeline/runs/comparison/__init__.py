"""Comparison of multiple runs of an action."""
