"""A campaign out to a file."""
