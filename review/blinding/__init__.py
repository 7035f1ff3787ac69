"""Determine which parts of an item a reviewer may see, and record which verdicts each user has seen."""
