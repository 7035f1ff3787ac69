"""Parses one row of a file: its columns and values. Pure code."""
