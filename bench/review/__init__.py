"""Benchmarks of reviewing: concurrent reviewers, races, size and speed of the review page, and blinding."""
