"""The desk: one reviewer scores one item, decides on it, comments on it."""
