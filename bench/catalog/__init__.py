"""Measurements of the catalogue: retrieval on pairs held out, search; and what makes the shipped models."""
