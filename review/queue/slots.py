"""Slots of items. An item has one slot for each reviewer it needs. A claim takes a slot in a single SQL statement."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from django.contrib.auth.models import User
from django.db import connection

from core.database.prepared import fetch
from review.models import Assignment, Item
from review.queue.assignment_leases import lease_end

# Takes a slot of the `found` item. Returns the assignment's key, its position in the reviewer's order, its start time
# and the found columns. The check constraint on `places` prevents negative values even without the row lock. The start
# time is set after the row is locked, so it is later than the end of the slot's previous assignment.
_GIVE = """
WITH found AS ({found}),
taken AS (
    UPDATE review_item SET places = review_item.places - 1 FROM found WHERE review_item.id = found.id
),
given AS (
    INSERT INTO review_assignment (
        item_id, reviewer_id, state, reason, lease_until, created_at, why, fence, pauses, active_seconds, position
    )
    SELECT found.id, %(by)s, %(state)s, %(reason)s, %(lease_until)s, clock_timestamp(), '', 1, 0, '{{}}', 1 + coalesce((
        SELECT earlier.position
        FROM review_assignment AS earlier JOIN review_item AS had ON had.id = earlier.item_id
        WHERE earlier.reviewer_id = %(by)s AND earlier.position > 0 AND had.campaign_id = %(campaign)s
        ORDER BY earlier.id DESC LIMIT 1
    ), 0)
    FROM found
    RETURNING id, position, created_at
)
SELECT given.id, given.position, given.created_at, found.* FROM given, found
"""


def give_slot(
    found: str,
    values: Mapping[str, object],
    *,
    to: User,
    campaign: int,
    state: str = Assignment.State.ACTIVE,
    reason: str = Assignment.Reason.QUEUE,
) -> tuple[Assignment, list[Any]] | None:
    """Assign a slot of the selected item to a user. Return the assignment and the selected columns.

    `found` is a SELECT whose first column is the item's key, named id. If the SELECT does not lock the row, a database
    constraint rejects a claim without a free slot. Return None if `found` selects no row. The caller sets the
    assignment's item.
    """
    until = lease_end() if state == Assignment.State.ACTIVE else None
    assignment = Assignment(reviewer=to, state=state, reason=reason, lease_until=until)
    own = {
        "by": to.pk,
        "campaign": campaign,
        "state": state,
        "reason": reason,
        "lease_until": until,
    }
    for key, position, began, *columns in fetch(_giving(found), own | dict(values)):
        assignment.pk, assignment.position, assignment.created_at = key, position, began
        assignment._state.adding, assignment._state.db = False, connection.alias
        return assignment, columns
    return None


@cache
def _giving(found: str) -> str:
    return _GIVE.format(found=found)


def take_slot(
    item: Item,
    by: User,
    *,
    state: str = Assignment.State.ACTIVE,
    reason: str = Assignment.Reason.QUEUE,
) -> Assignment:
    """Assign one of the item's slots to the user."""
    given = give_slot(
        "SELECT %(item)s::bigint AS id",
        {"item": item.pk},
        to=by,
        campaign=item.campaign_id,
        state=state,
        reason=reason,
    )
    assert given is not None, "what is selected here is a constant"
    assignment, _columns = given
    assignment.item = item
    return assignment
