"""Measurements of studies: their report, coverage of intervals, files in and out, growth."""
