"""Reports the origin of the scores, and what the times of imported scores reveal about order and sessions."""

from __future__ import annotations

from django.db import connection

from review.models import Campaign, Case
from review.queue.reviewer_checks.repeats import SITTING_GAP

Document = dict[str, object]

# Imported script scores with a time of day, because dates alone have no order. For each reviewer,
# count the scores that come after the score of an item earlier in the file, and the answers in
# several arms of a statement that came before the session could have ended.
_TIMES = """
    WITH timed AS (
        SELECT score.reviewer_id, score.at, item.id AS item, item.case_id,
               lag(item.id) OVER way AS item_before, lag(score.at) OVER way AS at_before,
               lag(score.at) OVER statement AS arm_before
        FROM review_score score
        JOIN review_item item ON item.id = score.item_id
        JOIN review_case "case" ON "case".id = item.case_id
        WHERE item.campaign_id = %(campaign)s AND "case".purpose = 'real' AND item.again = ''
          AND score.imported AND score.timed AND score.current AND score.stage = 'script'
          AND score.at::time <> '00:00'
        WINDOW way AS (PARTITION BY score.reviewer_id ORDER BY score.at, item.id),
               statement AS (PARTITION BY score.reviewer_id, item.case_id ORDER BY score.at, item.id)
    )
    SELECT count(*) FILTER (WHERE at > at_before AND item > item_before), count(*) FILTER (WHERE at > at_before),
           count(*) FILTER (WHERE at - arm_before < make_interval(mins => %(gap)s)), count(arm_before)
    FROM timed
"""


def count_origins(campaign: Campaign) -> dict[str, int]:
    """Count scores given here and imported ones, and how many imported scores have a time and a record of what was
    visible.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT count(*) FILTER (WHERE NOT score.imported),
                   count(*) FILTER (WHERE score.imported),
                   count(*) FILTER (WHERE score.imported AND score.timed),
                   count(*) FILTER (WHERE score.imported AND score.visible ? 'verdict')
            FROM review_score score JOIN review_item item ON item.id = score.item_id
            WHERE item.campaign_id = %s
            """,
            [campaign.pk],
        )
        return dict(zip(("here", "imported", "timed", "visible"), cursor.fetchone(), strict=True))


def check_times(campaign: Campaign) -> Document:
    """Return what the times in imported files show.

    `order`: the share of consecutive script scores that come after the score of an item earlier in the file. It is
    about half in random order and nearly all in file order. `sittings`: the share of answers to a statement in a second
    arm that were given within one session.
    """
    gap = int(SITTING_GAP.total_seconds() // 60)
    with connection.cursor() as cursor:
        cursor.execute(_TIMES, {"campaign": campaign.pk, "gap": gap})
        rising, steps, together, arms = cursor.fetchone()
    return {
        "order": {"numerator": rising, "denominator": steps},
        "sittings": {"numerator": together, "denominator": arms},
        "gap_minutes": gap,
    }


def describe_pilot(campaign: Campaign) -> Document:
    """Return how many items were in the pilot, and whether their scores count."""
    items = campaign.items.filter(pilot=True, case__purpose=Case.Purpose.REAL, again="")
    return {"items": items.count(), "counts": campaign.pilot_counts}
