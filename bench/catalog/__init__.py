"""Benchmarks of the catalogue: retrieval on held-out pairs, and search."""
