"""Overviews of the queue: waiting and later items, the reviewer's studies and pace, and the progress of runs."""
