"""PostgreSQL features that Django does not wrap: advisory locks, lists of keys, COPY, prepared statements."""
