"""Indexes that several apps need in one form."""

from __future__ import annotations

from django.db.models import Index, Q


def index_where_set(field: str, *, name: str) -> Index:
    """A partial index on a field that is empty in most rows; it contains only the rows that have a value."""
    return Index(fields=[field], name=name, condition=Q(**{f"{field}__isnull": False}))
