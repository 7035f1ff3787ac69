"""Benchmarks of studies: reports, coverage of intervals, import and export, and growth."""
