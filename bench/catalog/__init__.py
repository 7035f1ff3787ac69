"""Catalogue benchmarks: retrieval on held-out pairs, and search."""
