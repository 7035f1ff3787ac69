"""PostgreSQL features that Django does not support: advisory locks, array parameters, COPY, prepared statements.

The package also contains two additions to Django's migrations, `create_models` and `migration_history`.
"""
