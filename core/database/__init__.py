"""PostgreSQL features that Django does not wrap: advisory locks, lists of keys, COPY, prepared statements.

The package also has two additions to Django's migrations: `create_models` and `migration_history`.
"""
