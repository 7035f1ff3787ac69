"""PostgreSQL and Redis, started by ourselves where none is configured."""
