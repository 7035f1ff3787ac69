"""Benchmarks with bounds: `make bench` prints a table and writes bench/results/figures.json."""
