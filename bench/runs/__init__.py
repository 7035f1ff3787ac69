"""Benchmarks of runs: pace of the pipeline, kills, hostile input, batches, small models, upgrades, alerts."""
