"""Return the keys that pages and the API show for rows."""

from __future__ import annotations

from core.web.public_keys import DRAFT, ITEM, public_key
from pipeline.models import Draft, Feedback
from review.desk.shown_keys import name_draft, name_feedback
from review.models import Item


def shown(row: Item | Draft) -> int:
    """Return the public key of an item, or the key that a Draft has outside of reviews."""
    return int(public_key(ITEM if isinstance(row, Item) else DRAFT, row.pk))


def seen_in(item: Item, scored: Draft | Feedback | int) -> int:
    """Return the key that an item's reviewers see for feedback or a Draft. A number is a Draft's primary key."""
    if isinstance(scored, Feedback):
        return int(name_feedback(item.pk, scored.pk))
    return int(name_draft(item.pk, scored if isinstance(scored, int) else scored.pk))
