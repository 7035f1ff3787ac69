"""Benchmarks of studies: reports, coverage of intervals, import and export, growth."""
