"""An item is closed once as many reviewers are done with it as it wants, and its figures are due to be counted."""

from __future__ import annotations

from django.utils import timezone

from core.database import planned
from review.models import Item

_DUE = "INSERT INTO review_tallydue (item_id, campaign_id) VALUES (%s, %s)"
# The row is counted on as it is by then: this happens at the end of every review.
_COUNT_DONE = """
UPDATE review_item SET done = done + %s,
    state = CASE
        WHEN state = 'open' AND done + %s >= overlap THEN 'closed'
        WHEN state = 'closed' AND done + %s < overlap THEN 'open'
        ELSE state END,
    closed_at = CASE
        WHEN state = 'open' AND done + %s >= overlap THEN %s
        WHEN done + %s < overlap THEN NULL
        ELSE closed_at END
WHERE id = %s
"""


def count_done(item: Item, *, change: int) -> None:
    """Note that one reviewer more, or less, is through with an item, and close or open it by that.

    What it brings to the figures is due to be counted anew.
    """
    planned.carry_out(*completion_statements(item, change=change))


def completion_statements(item: Item, *, change: int = 0) -> list[planned.Statement]:
    """The statements of `count_done`; without a change only what is due to be counted anew."""
    statements = [planned.Statement(_DUE, [item.pk, item.campaign_id])]
    if change:
        values = [change, change, change, change, timezone.now(), change, item.pk]
        statements.append(planned.Statement(_COUNT_DONE, values))
    return statements
