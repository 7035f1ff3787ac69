"""PostgreSQL and Redis, which ScriptSmith starts if none is configured."""
