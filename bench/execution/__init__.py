"""Sandbox benchmarks: time per test, execution of a campaign, InterCode tasks, and quality of tests."""
