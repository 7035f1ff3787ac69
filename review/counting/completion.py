"""Closes an item when enough reviewers have finished it, and marks its figures for recounting.

If a campaign hides verdicts, a reviewer who has seen a verdict can still score, but the item then needs another
reviewer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.database.clock import database_now
from core.database.prepared import execute
from core.database.prepared_writes import Write, store
from pipeline.types import Arm
from review.models import Case, Item, Score

_DUE = "INSERT INTO review_tallydue (item_id, campaign_id) VALUES (%(item)s, %(campaign)s)"
# The UPDATE uses the row's current value.
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


# Free places: the required reviewers minus the reviewers who count and those who have claimed the item.
_HAND_ON = """
UPDATE review_item SET places = GREATEST(0, overlap - done - (
    SELECT count(*) FROM review_assignment
    WHERE item_id = %(item)s AND state IN ('active', 'waiting')
)) WHERE id = %(item)s AND state = 'open'
"""


def counts(item: Item, given: Iterable[Score]) -> bool:
    """Return whether a reviewer's scores count toward the number of reviewers that the item needs.

    They do not count if the campaign hides verdicts and the reviewer has no blind score for some stage. Repeats, halo
    checks and training items belong to one reviewer, so their scores always count.
    """
    if not item.campaign.hides_verdict or item.again or item.case.purpose != Case.Purpose.REAL:
        return True
    is_blind: dict[str, bool] = {}
    for one in given:
        if one.arm == Arm.MODEL:
            is_blind[one.stage] = is_blind.get(one.stage, False) or one.blind
    return all(is_blind.values())


def hand_on(item: Item) -> None:
    """Free a place of an item whose reviewer does not count. The caller must have locked the item."""
    execute(_HAND_ON, {"item": item.pk})


def count_done(item: Item, *, change: int, with_writes: Sequence[Write] = ()) -> None:
    """Add `change` to the number of reviewers who finished an item, and close or reopen the item accordingly.

    The item's share of the figures is marked for recounting. If `change` is 0, nothing else happens. The statement also
    executes `with_writes`.
    """
    keys = {"item": item.pk, "campaign": item.campaign_id}
    due = Write(_DUE, keys)
    close = Write(_CLOSE, {**keys, "change": change, "now": database_now()})
    store(*with_writes, due, *([close] if change else []))


def note_changed(item: int, campaign: int) -> None:
    """Note that an item's contribution to the figures has changed."""
    execute(_DUE, {"item": item, "campaign": campaign})
