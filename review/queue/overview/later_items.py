"""Items that come to a reviewer later: other answers to statements they have just scored, half an hour after those."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db import connection

from review.models import Assignment, Campaign
from review.queue.reviewer_checks.repeats import SITTING_GAP


@dataclass(frozen=True)
class Later:
    """So many items that a person may have from `first_at` on; the last of them at `last_at`."""

    count: int
    first_at: datetime
    last_at: datetime


# Of each person and waiting item the newest work on another answer to its statement. What is shown again to check
# reviewers is left out: to count it would tell that it is there.
_LATER = """
    WITH recent AS (
        SELECT held.reviewer_id, sibling.case_id, sibling.id AS item_id, sibling.campaign_id, held.created_at
        FROM review_assignment held JOIN review_item sibling ON sibling.id = held.item_id
        WHERE held.reviewer_id = ANY(%(people)s) AND held.state = ANY(%(holding)s)
            AND held.created_at > now() - make_interval(secs => %(gap)s)
            AND sibling.campaign_id = ANY(%(campaigns)s) AND sibling.again = ''
    ), later AS (
        SELECT recent.campaign_id, recent.reviewer_id, item.id,
            max(recent.created_at) + make_interval(secs => %(gap)s) AS free_at
        FROM recent JOIN review_item item ON item.case_id = recent.case_id AND item.id <> recent.item_id
        WHERE item.state = 'open' AND item.places > 0 AND item.again = ''
            AND NOT EXISTS (
                SELECT FROM review_assignment mine
                WHERE mine.item_id = item.id AND mine.reviewer_id = recent.reviewer_id
                    AND mine.state NOT IN ('released', 'expired')
            )
        GROUP BY recent.campaign_id, recent.reviewer_id, item.id
    )
    SELECT campaign_id, reviewer_id, count(*), min(free_at), max(free_at) FROM later GROUP BY 1, 2
"""


def read_later(
    campaigns: Iterable[Campaign], people: Iterable[int]
) -> dict[tuple[int, int], Later]:
    """What comes later to each of these people (by key), by campaign and person; one query."""
    under_way = [
        one.pk for one in campaigns if one.state in (Campaign.State.OPEN, Campaign.State.PILOT)
    ]
    keys = list(people)
    if not (under_way and keys):
        return {}
    holding = [state.value for state in Assignment.HOLDING]
    with connection.cursor() as cursor:
        gap = SITTING_GAP.total_seconds()
        cursor.execute(
            _LATER, {"people": keys, "campaigns": under_way, "holding": holding, "gap": gap}
        )
        return {(row[0], row[1]): Later(*row[2:]) for row in cursor.fetchall()}
