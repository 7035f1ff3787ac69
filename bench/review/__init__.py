"""Benchmarks of reviewing: many reviewers at once, races, size and speed of the review page, blinding."""
