"""Pipeline benchmarks: overhead, kills, hostile servers, batches, small models, upgrades and alerts."""
