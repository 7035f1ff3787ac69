"""A campaign's summary from its tallies: progress of each stage, and each reviewer's agreement with others."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from django.db import connection

from review.models import Campaign, Score, Tally


@dataclass(frozen=True)
class StageLine:
    """One stage: items with a score that counts, those that several scored, and those on which they differ."""

    stage: str
    label: str
    items: int
    shared: int
    differ: int


def read_stages(campaign: Campaign) -> list[StageLine]:
    """Each stage in turn, over all configurations."""
    items: Counter[str] = Counter()
    shared: Counter[str] = Counter()
    differ: Counter[str] = Counter()
    rows = campaign.tallies.filter(kind=Tally.Kind.VALUES, count__gt=0)
    for pattern, count in rows.values_list("pattern", "count"):
        stage, _bar, numbers = pattern.partition("|")
        given = [int(number) for number in numbers.split(",")]
        items[stage] += count
        shared[stage] += count if sum(given) > 1 else 0
        differ[stage] += count if sum(1 for one in given if one) > 1 else 0
    return [
        StageLine(stage, str(label), items[stage], shared[stage], differ[stage])
        for stage, label in Score.Stage.choices
    ]


# The four numbers of a pair's pattern are both reviewers and what they gave; there may be ten thousand of them.
_PAIRS = """
    SELECT split_part(numbers, ',', 1)::bigint, split_part(numbers, ',', 2)::bigint, sum(count)::bigint,
           coalesce(sum(count) FILTER (WHERE split_part(numbers, ',', 3) = split_part(numbers, ',', 4)), 0)::bigint
    FROM (
        SELECT split_part(pattern, '|', 2) AS numbers, count FROM review_tally
        WHERE campaign_id = %s AND kind = 'pair' AND count > 0
    ) AS pair GROUP BY 1, 2
"""


def read_agreement(campaign: Campaign) -> tuple[Counter[int], Counter[int]]:
    """By reviewer: scores equal to another's, of all that can be compared."""
    agreed: Counter[int] = Counter()
    compared: Counter[int] = Counter()
    with connection.cursor() as cursor:
        cursor.execute(_PAIRS, [campaign.pk])
        for a, b, count, same in cursor.fetchall():
            for reviewer in (a, b):
                compared[reviewer] += count
                agreed[reviewer] += same
    return agreed, compared
