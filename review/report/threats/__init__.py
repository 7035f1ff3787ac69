"""Threats to validity: the numbers for each threat (`counts`), and their presentation (`page`)."""
