"""Threats to validity: the numbers behind each (`counts`), and these as the page shows them (`page`)."""
