"""Benchmarks of the sandbox: time per test, execution of a campaign, InterCode tasks, quality of tests."""
