"""The report of a study: figures, threats to validity and snapshots."""
