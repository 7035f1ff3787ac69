"""What was shown again to check reviewers: hidden repeats, and refined scripts among first Drafts (halo checks)."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import asdict
from typing import Any

from django.contrib.auth.models import User
from django.db import connection

from review.models import Campaign, Item
from review.study import Criterion, ItemPattern
from review.study.family import HALO
from review.study.threats import compare_halo, compare_repeats

Document = dict[str, object]

# Every item that was shown again with the one it stands for, and what each reviewer gave: of each place the last
# value given blind; where none was, the first. As the figures take it, and of stages with a current score alone.
_AGAIN = """
    WITH pair AS (
        SELECT shown.again, shown.id AS shown_id, original.id AS original_id, original.pattern
        FROM review_item shown JOIN review_item original
          ON original.campaign_id = shown.campaign_id AND original.run_id = shown.run_id AND original.again = ''
        WHERE shown.campaign_id = %(campaign)s AND shown.again = %(again)s
          AND shown.state <> 'withdrawn' AND original.state <> 'withdrawn'
    ), given AS (
        SELECT DISTINCT ON (item_id, reviewer_id, stage, arm) item_id, reviewer_id, stage, arm, value
        FROM (
            SELECT *, bool_or(current) OVER (PARTITION BY item_id, reviewer_id, stage, arm) AS counts
            FROM review_score
            WHERE item_id IN (SELECT shown_id FROM pair UNION ALL SELECT original_id FROM pair)
        ) score
        WHERE counts
        ORDER BY item_id, reviewer_id, stage, arm, blind DESC, CASE WHEN blind THEN -id ELSE id END
    )
"""
# A hidden repeat and the first time: the same reviewer, stage and arm.
_REPEATS = f"""{_AGAIN}
    SELECT first.reviewer_id, first.value, again.value, count(*)
    FROM pair
    JOIN given again ON again.item_id = pair.shown_id
    JOIN given first ON first.item_id = pair.original_id
     AND first.reviewer_id = again.reviewer_id AND first.stage = again.stage AND first.arm = again.arm
    GROUP BY first.reviewer_id, first.value, again.value
"""
# What the item is counted with, its final refined score among it, and what the other reviewer gave. An item keeps
# its pattern as the first text of a JSON list.
_HALO = f"""{_AGAIN}
    SELECT split_part(pair.pattern, '"', 2), other.value, count(*)
    FROM pair LEFT JOIN given other ON other.item_id = pair.shown_id AND other.stage = 'script'
    GROUP BY 1, 2
"""


def report_repeats(campaign: Campaign) -> Document:
    """How far reviewers agree with themselves on hidden repeats: all together, and each."""
    pairs: dict[int, Counter[tuple[int, int]]] = defaultdict(Counter)
    for reviewer, first, again, times in _read_again(_REPEATS, campaign, Item.Again.REPEAT):
        pairs[reviewer][first, again] = times
    names = dict(User.objects.filter(pk__in=pairs).values_list("pk", "username"))
    together = sum(pairs.values(), Counter[tuple[int, int]]())
    return {
        "all": asdict(compare_repeats(together)),
        "reviewers": [
            {"reviewer": names[key]} | asdict(compare_repeats(one))
            for key, one in sorted(pairs.items(), key=lambda pair: names[pair[0]])
        ],
    }


def report_halo(campaign: Campaign, *, with_p: bool = True) -> Document:
    """How far another reviewer, who did not know what it was, judged refined scripts differently.

    Without its p values where the study goes on.
    """
    pairs: Counter[tuple[int, int]] = Counter()
    made = scored = 0
    for pattern, other, times in _read_again(_HALO, campaign, Item.Again.HALO):
        made += times
        if other is None:
            continue
        scored += times
        usual = ItemPattern.from_text(pattern).refined if pattern else None
        if usual is not None and usual.value in "012":
            pairs[int(usual.value), other] += times
    compared = {criterion.value: asdict(compare_halo(pairs, criterion)) for criterion in Criterion}
    if not with_p:
        compared = {key: one | {"p_value": None} for key, one in compared.items()}
    return {"made": made, "scored": scored, "compared": sum(pairs.values()), **compared}


def compare_halo_checks(campaign: Campaign) -> Document:
    """The same difference under each criterion, for the family of p values; empty where it is in none."""
    if not is_halo_planned(campaign):
        return {}
    halo = report_halo(campaign)
    return {criterion.value: halo[criterion.value] for criterion in Criterion}


def is_halo_planned(campaign: Campaign) -> bool:
    """Whether its p values belong to the report: a share was wanted for it, here or where the campaign comes from."""
    return campaign.halo_share > 0 or any(one[0] == HALO for one in campaign.p_family or ())


def _read_again(sql: str, campaign: Campaign, again: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, {"campaign": campaign.pk, "again": again})
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows
