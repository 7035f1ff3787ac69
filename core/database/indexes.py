"""Index definitions shared by several apps."""

from __future__ import annotations

from django.db.models import Index, Q


def index_where_set(field: str, *, name: str) -> Index:
    """Return a partial index on a field that is empty in most rows. The index contains only rows with a value."""
    return Index(fields=[field], name=name, condition=Q(**{f"{field}__isnull": False}))
