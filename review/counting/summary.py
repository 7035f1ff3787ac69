"""Summarize a campaign from its tallies: progress by stage, and each reviewer's agreement with other reviewers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from django.db import connection

from review.counting.statements import TOGETHER
from review.models import Campaign, Score, Tally


@dataclass(frozen=True)
class StageLine:
    """A stage with its numbers of scored items, items with multiple scores, and items with different scores."""

    stage: str
    label: str
    items: int
    shared: int
    differ: int


def read_stages(campaign: Campaign) -> list[StageLine]:
    """Return the stages in order, with the numbers for all configurations combined."""
    items: Counter[str] = Counter()
    shared: Counter[str] = Counter()
    differ: Counter[str] = Counter()
    rows = campaign.tallies.filter(kind=Tally.Kind.VALUES).exclude(count=0)
    rows = rows.exclude(pattern__startswith=TOGETHER)
    for pattern, count in rows.values_list("pattern", "count"):
        stage, _bar, statement = pattern.partition("|")
        for numbers in statement.split(";"):
            given = [int(number) for number in numbers.split(",")]
            items[stage] += count
            shared[stage] += count if sum(given) > 1 else 0
            differ[stage] += count if sum(1 for one in given if one) > 1 else 0
    return [
        StageLine(stage, str(label), items[stage], shared[stage], differ[stage])
        for stage, label in Score.Stage.choices
    ]


# The pattern contains the stage, both reviewers and their values for each item of a statement that both scored. The
# query runs in the database because a campaign may have ten thousand pairs. A `*` marks corrections for statements in
# multiple configurations.
_PAIRS = """
    SELECT split_part(reviewers, ',', 1)::bigint, split_part(reviewers, ',', 2)::bigint, sum(count)::bigint,
           coalesce(sum(count) FILTER (WHERE split_part(cell, ',', 1) = split_part(cell, ',', 2)), 0)::bigint
    FROM (
        SELECT split_part(pattern, '|', 2) AS reviewers, count,
               string_to_table(split_part(pattern, '|', 3), ';') AS cell
        FROM review_tally
        WHERE campaign_id = %s AND kind = 'pair' AND count <> 0
          AND (pattern LIKE 'script|%%' OR pattern LIKE '*script|%%')
    ) AS pair GROUP BY 1, 2
"""


def read_agreement(campaign: Campaign) -> tuple[Counter[int], Counter[int]]:
    """Return two counts by reviewer: scores that agree with another reviewer's, and all compared scores.

    Only scripts count.
    """
    agreed: Counter[int] = Counter()
    compared: Counter[int] = Counter()
    with connection.cursor() as cursor:
        cursor.execute(_PAIRS, [campaign.pk])
        for a, b, count, same in cursor.fetchall():
            for reviewer in (a, b):
                compared[reviewer] += count
                agreed[reviewer] += same
    return agreed, compared
