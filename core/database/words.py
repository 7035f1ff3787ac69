"""A search condition for text that contains every typed word."""

from __future__ import annotations

from django.db.models import Q

MOST_WORDS = 12


def has_every_word(field: str, typed: str) -> Q:
    """Return a condition for rows whose field contains all words, in any order. The field needs a trigram index."""
    return Q(*(Q((f"{field}__icontains", word)) for word in typed.split()[:MOST_WORDS]))
