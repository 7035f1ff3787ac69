"""What the tallies say of a campaign at a glance: its stages, and who agrees with others."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

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


def read_agreement(campaign: Campaign) -> tuple[Counter[int], Counter[int]]:
    """By reviewer: scores equal to another's, of all that can be compared."""
    agreed: Counter[int] = Counter()
    compared: Counter[int] = Counter()
    rows = campaign.tallies.filter(kind=Tally.Kind.PAIR, count__gt=0)
    for pattern, count in rows.values_list("pattern", "count"):
        a, b, first, second = (int(part) for part in pattern.partition("|")[2].split(","))
        for reviewer in (a, b):
            compared[reviewer] += count
            agreed[reviewer] += count if first == second else 0
    return agreed, compared
