"""Indexes that several apps need in one form."""

from __future__ import annotations

from django.db.models import Index, Q


def index_where_set(field: str, *, name: str) -> Index:
    """An index on a field that most rows leave empty: only those that do not are in it."""
    return Index(fields=[field], name=name, condition=Q(**{f"{field}__isnull": False}))
