"""Pages about sandbox tests and their results."""
