"""Text that has every word of what somebody typed."""

from __future__ import annotations

from django.db.models import Q

MOST_WORDS = 12


def has_every_word(field: str, typed: str) -> Q:
    """The words in any order, each anywhere in the field; a trigram index on it serves each of them."""
    return Q(*(Q((f"{field}__icontains", word)) for word in typed.split()[:MOST_WORDS]))
