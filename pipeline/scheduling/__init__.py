"""Scheduling of runs on workers: dispatch, leases, heartbeat and batches."""
