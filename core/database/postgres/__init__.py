"""Django's database backend for PostgreSQL, set up for statements that are planned once; see `base.py`."""
