"""Comparison of several runs of an action."""
