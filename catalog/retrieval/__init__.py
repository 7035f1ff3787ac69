"""Find the entries that answer a statement, by text search, vector search and a relevance model."""
