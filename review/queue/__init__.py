"""The review queue: which items a reviewer may claim, in which order, and for how long."""
