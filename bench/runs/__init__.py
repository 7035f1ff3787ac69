"""Benchmarks of runs: pipeline pace, kills, hostile servers, batches, small models, upgrades and alerts."""
