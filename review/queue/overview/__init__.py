"""Overviews of the queue: waiting and later items, a reviewer's studies and pace, and the review progress of runs."""
