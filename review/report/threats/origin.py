"""Report the origin of the scores, and the order and sessions that the times of imported scores reveal."""

from __future__ import annotations

from django.db import connection

from review.models import Campaign, Case
from review.queue.reviewer_checks.repeats import SITTING_GAP

Document = dict[str, object]

# For imported script scores with a time of day, count each reviewer's scores that follow a score of an earlier item in
# the file. Also count the scores of a statement's further arms that were given within one session.
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
    """Count the scores given here, the imported scores, and the imported scores with a time or with visibility data."""
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
    """Return statistics on order and sessions, based on the times of imported scores.

    `order` is the share of script scores that follow a score of an earlier item in the file. The share is about half in
    random order and nearly 100% in file order. `sittings` is the share of scores of a statement's further arms that
    were given in the same session.
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
    """Return the number of pilot items, and whether the figures include their scores."""
    items = campaign.items.filter(pilot=True, case__purpose=Case.Purpose.REAL, again="")
    return {"items": items.count(), "counts": campaign.pilot_counts}
