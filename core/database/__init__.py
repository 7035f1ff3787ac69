"""PostgreSQL beyond Django's own means: locks, lists of keys, COPY, prepared statements."""
