"""Finds the entries that answer a statement: search by words and by vectors, then a relevance model."""
