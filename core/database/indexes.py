"""Index definitions that multiple apps share."""

from __future__ import annotations

from django.db.models import Index, Q


def index_where_set(field: str, *, name: str) -> Index:
    """Return a partial index on a field that is null in most rows. The index contains only the rows with a value."""
    return Index(fields=[field], name=name, condition=Q(**{f"{field}__isnull": False}))
