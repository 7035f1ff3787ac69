"""The review screen, and what it sends meanwhile."""
