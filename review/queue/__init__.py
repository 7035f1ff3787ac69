"""The review queue: which items a reviewer may take, in which order, and for how long."""
