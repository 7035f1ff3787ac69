"""Close an item when enough reviewers have finished it, and mark its contribution for recounting.

If a campaign hides verdicts, a reviewer who has seen an item's verdict can still score it, but the item then needs one
more reviewer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.database.clock import database_now
from core.database.prepared import execute
from core.database.prepared_writes import Write, store
from pipeline.types import Arm
from review.models import Case, Item, Score

_DUE = "INSERT INTO review_tallydue (item_id, campaign_id) VALUES (%(item)s, %(campaign)s)"
# The UPDATE computes from the row's current value, so concurrent changes are not lost.
_CLOSE = """
UPDATE review_item SET done = done + %(change)s,
    state = CASE
        WHEN state = 'open' AND done + %(change)s >= overlap THEN 'closed'
        WHEN state = 'closed' AND done + %(change)s < overlap THEN 'open'
        ELSE state END,
    closed_at = CASE
        WHEN state = 'open' AND done + %(change)s >= overlap THEN %(now)s
        WHEN done + %(change)s < overlap THEN NULL
        ELSE closed_at END
WHERE id = %(item)s"""


# Compute the free places: required reviewers minus reviewers who count and reviewers who have claimed the item.
_HAND_ON = """
UPDATE review_item SET places = GREATEST(0, overlap - done - (
    SELECT count(*) FROM review_assignment
    WHERE item_id = %(item)s AND state IN ('active', 'waiting')
)) WHERE id = %(item)s AND state = 'open'
"""


def counts(item: Item, given: Iterable[Score]) -> bool:
    """Return whether the reviewer who gave these scores counts toward the number of reviewers that the item needs.

    If the campaign hides verdicts, a reviewer counts only with a blind score at each scored stage. For repeats, halo
    checks, training items and gold items, the reviewer always counts.
    """
    if not item.campaign.hides_verdict or item.again or item.case.purpose != Case.Purpose.REAL:
        return True
    is_blind: dict[str, bool] = {}
    for one in given:
        if one.arm == Arm.MODEL:
            is_blind[one.stage] = is_blind.get(one.stage, False) or one.blind
    return all(is_blind.values())


def hand_on(item: Item) -> None:
    """Recalculate the free places of an item. The caller must have locked the item."""
    execute(_HAND_ON, {"item": item.pk})


def count_done(item: Item, *, change: int, with_writes: Sequence[Write] = ()) -> None:
    """Add `change` to the number of reviewers who finished an item, and close or reopen the item accordingly.

    Also mark the item's contribution for recounting, even if `change` is 0. `with_writes` is executed in the same SQL
    statement.
    """
    keys = {"item": item.pk, "campaign": item.campaign_id}
    due = Write(_DUE, keys)
    close = Write(_CLOSE, {**keys, "change": change, "now": database_now()})
    store(*with_writes, due, *([close] if change else []))


def note_changed(item: int, campaign: int) -> None:
    """Mark an item's contribution to the figures for recounting."""
    execute(_DUE, {"item": item, "campaign": campaign})
