"""Shared parts of benchmarks: servers, the product as users start it, workers, and rows."""
