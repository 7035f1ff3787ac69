"""Items that a reviewer can claim only after a break, because they just scored other answers to the same statements.

Without this information, a small study would look finished even though more items follow.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db import connection

from review.models import Campaign
from review.queue.reviewer_checks.repeats import SITTING_GAP


@dataclass(frozen=True)
class Later:
    """The number of items that become available at a given time if the reviewer scores no items until then."""

    count: int
    at: datetime


# For each reviewer and open item, find the reviewer's latest work in the current session (see `repeats.sitting_began`)
# on another answer to the item's statement. Repeats and halo checks are excluded, because counting them would reveal
# them. OFFSET 0 makes PostgreSQL look up the joined rows one by one. A reviewer has at most a few hundred items in a
# session, but the planner estimates a third of the reviewer's entire history and would read the whole study.
_LATER = """
    WITH last AS (
        SELECT person.id AS reviewer_id, score.at, coalesce(score.sitting_minutes, 0) AS minutes
        FROM unnest(%(people)s::bigint[]) AS person (id) CROSS JOIN LATERAL (
            SELECT at, sitting_minutes FROM review_score
            WHERE reviewer_id = person.id AND NOT imported AND NOT visible ? 'copied_from'
            ORDER BY id DESC LIMIT 1
        ) AS score
    ), sitting AS (
        SELECT person.id AS reviewer_id, last.at AS last_at, least(
            now() - make_interval(secs => %(gap)s),
            CASE WHEN last.at > now() - make_interval(secs => %(gap)s)
                THEN last.at - make_interval(secs => 60 * last.minutes + %(gap)s / 2) END
        ) AS began
        FROM unnest(%(people)s::bigint[]) AS person (id) LEFT JOIN last ON last.reviewer_id = person.id
    ), recent AS (
        SELECT held.reviewer_id, answer.case_id, held.item_id, answer.campaign_id, answer.statement,
            greatest(held.created_at, held.ended_at, sitting.last_at) AS worked_at
        FROM sitting CROSS JOIN LATERAL (
            SELECT reviewer_id, item_id, created_at, ended_at FROM review_assignment
            WHERE reviewer_id = sitting.reviewer_id AND state IN ('active', 'waiting') AND (
                state = 'active' OR ended_at IS NULL AND created_at > sitting.began OR ended_at > sitting.began
            )
            UNION ALL  -- years of work are not read for it: there is an index of these
            SELECT reviewer_id, item_id, created_at, ended_at FROM review_assignment
            WHERE reviewer_id = sitting.reviewer_id AND state = 'submitted' AND ended_at > sitting.began
        ) AS held CROSS JOIN LATERAL (
            SELECT sibling.case_id, sibling.campaign_id, action.statement_sha256 AS statement
            FROM review_item sibling
            JOIN review_case "case" ON "case".id = sibling.case_id
            JOIN pipeline_action action ON action.id = "case".action_id
            WHERE sibling.id = held.item_id AND sibling.campaign_id = ANY(%(campaigns)s) AND sibling.again = ''
            OFFSET 0
        ) AS answer
    ), same AS (
        SELECT recent.*, recent.case_id AS other FROM recent
        UNION ALL
        SELECT recent.*, alike.id FROM recent CROSS JOIN LATERAL (
            SELECT "case".id FROM pipeline_action action
            JOIN review_case "case" ON "case".action_id = action.id AND "case".campaign_id = recent.campaign_id
            WHERE action.statement_sha256 = recent.statement
            OFFSET 0
        ) AS alike
        WHERE recent.statement <> '' AND alike.id <> recent.case_id
    ), later AS (
        SELECT recent.campaign_id, recent.reviewer_id, item.id,
            max(recent.worked_at) + make_interval(secs => %(gap)s) AS free_at
        FROM same AS recent CROSS JOIN LATERAL (
            SELECT waiting.id FROM review_item waiting
            WHERE waiting.case_id = recent.other AND waiting.id <> recent.item_id
                AND waiting.state = 'open' AND waiting.places > 0 AND waiting.again = ''
            OFFSET 0
        ) AS item
        WHERE NOT EXISTS (
            SELECT FROM review_assignment mine
            WHERE mine.item_id = item.id AND mine.reviewer_id = recent.reviewer_id
                AND mine.state NOT IN ('released', 'expired')
            OFFSET 0
        )
        GROUP BY recent.campaign_id, recent.reviewer_id, item.id
    )
    SELECT campaign_id, reviewer_id, count(*), max(free_at) FROM later GROUP BY 1, 2
"""


def read_later(
    campaigns: Iterable[Campaign], people: Iterable[int]
) -> dict[tuple[int, int], Later]:
    """Return the later items, keyed by campaign and reviewer, using one query."""
    under_way = [
        one.pk for one in campaigns if one.state in (Campaign.State.OPEN, Campaign.State.PILOT)
    ]
    keys = list(people)
    if not (under_way and keys):
        return {}
    with connection.cursor() as cursor:
        gap = SITTING_GAP.total_seconds()
        cursor.execute(_LATER, {"people": keys, "campaigns": under_way, "gap": gap})
        return {(row[0], row[1]): Later(*row[2:]) for row in cursor.fetchall()}
