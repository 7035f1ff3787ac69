"""Fitting of relevance models. Only workers and the benchmarks import this package."""
