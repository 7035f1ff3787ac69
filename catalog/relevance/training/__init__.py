"""Fitting of relevance models. Only workers and benchmarks import this package."""
