"""Find reviewers who saw verdicts too early, based on the verdicts they were shown or opened, and on their scores."""

from __future__ import annotations

from django.db import connection

from review.models import Campaign

Document = dict[str, object]

# Includes members of the campaign and all users who gave scores. Verdicts shown after the campaign closed are ignored,
# because they can't influence a score. A score that is not blind is counted only if the same user gave no blind score
# for the same stage, because the figures use the blind score. Training and gold items are excluded.
_SEEN = """
    WITH counted AS (
        SELECT item.id, item.run_id FROM review_item item JOIN review_case "case" ON "case".id = item.case_id
        WHERE item.campaign_id = %(campaign)s AND "case".purpose NOT IN ('gold', 'training')
    ), given AS (
        SELECT score.item_id, score.reviewer_id, score.stage, score.arm,
               bool_or(score.current) AS counts, bool_or(score.blind) AS was_blind
        FROM review_score score JOIN counted item ON item.id = score.item_id
        GROUP BY 1, 2, 3, 4
    ), people AS (
        SELECT user_id AS person FROM review_member WHERE campaign_id = %(campaign)s
        UNION SELECT reviewer_id FROM given
    ), shown AS (
        SELECT exposure.person_id AS person, exposure.at, 'shown' AS how
        FROM review_exposure exposure JOIN counted item ON item.run_id = exposure.run_id
        WHERE exposure.person_id IN (SELECT person FROM people)
        UNION ALL
        SELECT person_id, at, what FROM review_exposure WHERE campaign_id = %(campaign)s
        UNION ALL
        SELECT user_id, unblinded_at, 'items' FROM review_member
        WHERE campaign_id = %(campaign)s AND unblinded_at IS NOT NULL
        UNION ALL
        SELECT reveal.reviewer_id, reveal.at, 'asked'
        FROM review_reveal reveal JOIN counted item ON item.id = reveal.item_id
        WHERE reveal.what = 'verdict'
    ), seen AS (
        SELECT person, min(at) AS at, array_agg(DISTINCT how ORDER BY how) AS how,
               count(*) FILTER (WHERE how IN ('shown', 'asked')) AS times
        FROM shown WHERE %(closed_at)s::timestamptz IS NULL OR at < %(closed_at)s
        GROUP BY person
    ), not_blind AS (
        SELECT reviewer_id AS person, count(*) AS scores
        FROM given WHERE counts AND NOT was_blind GROUP BY 1
    )
    SELECT account.username, seen.at, seen.how, seen.times, coalesce(not_blind.scores, 0)
    FROM people
    JOIN auth_user account ON account.id = people.person
    LEFT JOIN seen ON seen.person = people.person
    LEFT JOIN not_blind ON not_blind.person = people.person
    WHERE seen.person IS NOT NULL OR not_blind.scores > 0
    ORDER BY account.username
"""


def report_unblinded(campaign: Campaign) -> list[Document]:
    """Return the reviewers who saw verdicts, with the first time, the ways, the number of items and non-blind scores.

    `at` is None if only the scores show that the reviewer was not blind, as with imported scores.
    """
    with connection.cursor() as cursor:
        cursor.execute(_SEEN, {"campaign": campaign.pk, "closed_at": campaign.closed_at})
        rows = cursor.fetchall()
    return [
        {
            "reviewer": reviewer,
            "at": at.isoformat(timespec="seconds") if at else None,
            "how": list(how or ()),
            "items": times or 0,
            "not_blind": scores,
        }
        for reviewer, at, how, times, scores in rows
    ]
