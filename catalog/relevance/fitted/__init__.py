"""The fitted model: its features, its trees, and reading it from its file."""
