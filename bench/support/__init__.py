"""Shared parts of the benchmarks: servers, the running product, workers and rows."""
