"""An item is closed once as many reviewers are done with it as it wants, and its figures are due to be counted."""

from __future__ import annotations

from django.utils import timezone

from core.database.prepared import execute
from review.models import Item

_DUE = "INSERT INTO review_tallydue (item_id, campaign_id) VALUES (%s, %s)"
# The row is counted on as it is by then: this happens at the end of every review.
_COUNT_DONE = """
UPDATE review_item SET done = done + %(change)s,
    state = CASE
        WHEN state = 'open' AND done + %(change)s >= overlap THEN 'closed'
        WHEN state = 'closed' AND done + %(change)s < overlap THEN 'open'
        ELSE state END,
    closed_at = CASE
        WHEN state = 'open' AND done + %(change)s >= overlap THEN %(now)s
        WHEN done + %(change)s < overlap THEN NULL
        ELSE closed_at END
WHERE id = %(item)s
"""


def count_done(item: Item, *, change: int) -> None:
    """Note that one reviewer more, or less, is through with an item, and close or open it by that.

    What it brings to the figures is due to be counted anew, which is all that happens without a change.
    """
    execute(_DUE, [item.pk, item.campaign_id])
    if change:
        execute(_COUNT_DONE, {"change": change, "now": timezone.now(), "item": item.pk})
