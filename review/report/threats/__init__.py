"""Threats to validity: the numbers for each (`counts`), and how the page shows them (`page`)."""
