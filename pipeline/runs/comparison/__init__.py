"""Several runs of an action side by side."""
