"""Determine which scores of a campaign count, by the same rules as the figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from review.counting.facts import Facts, read_facts
from review.counting.score_reader import ScoreRow, fetch
from review.models import Campaign
from review.study import Stage, scores_used

SLICE = 1_000


class Mark(NamedTuple):
    """The marks of a score: whether it is blind, and whether the figures use it."""

    is_blind: bool
    is_used: bool


def mark_scores(campaign: Campaign) -> dict[int, Mark]:
    """Return the marks of all of the campaign's scores, by primary key."""
    marks: dict[int, Mark] = {}
    for facts, keys in _slices(campaign):
        used = {row.pk for key in keys for row in used_rows(facts, key)}
        for key in keys:
            for row in facts.scores.get(key, ()):
                marks[row.pk] = Mark(row.is_blind, row.pk in used)
    return marks


def used_rows(facts: Facts, key: int) -> list[ScoreRow]:
    """Return the rows of the item's scores that count.

    If a shared text was scored in another arm, return the copy of that score in this item instead.
    """
    every = facts.scores_of(key)
    found = []
    for used in scores_used(facts.judge(key)):
        row = every[used.order]
        own = row if row.item == key else _copy_of(facts.scores.get(key, ()), row)
        if own is not None:
            found.append(own)
    return found


def _copy_of(own: Sequence[ScoreRow], row: ScoreRow) -> ScoreRow | None:
    place = (row.reviewer, row.stage, row.arm)
    copies = [
        one
        for one in own
        if one.is_copied and not one.is_undone and (one.reviewer, one.stage, one.arm) == place
    ]
    return copies[-1] if copies else None


def _slices(campaign: Campaign) -> Iterator[tuple[Facts, list[int]]]:
    items = campaign.items.order_by("pk").values_list("pk", flat=True)
    last = 0
    while keys := list(items.filter(pk__gt=last)[:SLICE]):
        yield read_facts(keys), keys
        last = keys[-1]


_SEVERAL = """
    SELECT DISTINCT item_id FROM (
        SELECT score.item_id FROM review_score score JOIN review_item item ON item.id = score.item_id
        WHERE item.campaign_id = ANY(%s) AND score.stage = 'script'
        GROUP BY score.item_id, score.reviewer_id HAVING count(*) > 1
    ) AS changed
"""


def used_of_several(campaign: Campaign) -> list[int]:
    """Return the keys of the script scores that count, for items whose script a reviewer scored more than once."""
    keys = sorted(key for (key,) in fetch(_SEVERAL, [campaign.pk]))
    found: list[int] = []
    for start in range(0, len(keys), SLICE):
        facts = read_facts(keys[start : start + SLICE])
        for key in keys[start : start + SLICE]:
            found += [row.pk for row in used_rows(facts, key) if row.stage == Stage.SCRIPT.value]
    return found
