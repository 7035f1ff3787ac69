"""Measurements of runs: the pipeline's pace, kills, hostile input, batches, models beside it, upgrades, alerts."""
