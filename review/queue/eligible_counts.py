"""Count the items that a reviewer could claim now. The queries are prepared, because every page shows the counts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from functools import cache

from django.contrib.auth.models import User
from django.db.models import QuerySet
from psycopg.types.numeric import Int8

from core.database.prepared import PreparedQuery, fetch
from review.models import Campaign, Item, Member
from review.queue.eligibility import Rule, eligible_items, items_for, rule_for
from review.queue.reviewer_checks.repeats import has_checks

_COUNT = """
SELECT wanted.id, (SELECT count(*) FROM ({keys}) AS waiting) FROM unnest(%(campaigns)s::bigint[]) AS wanted (id)
"""


def count_eligible(
    campaigns: Mapping[Campaign, Member | None],
    by: User,
    *,
    most: int | None = None,
    with_training: Collection[int] | None = None,
) -> dict[int, int]:
    """Return the number of `eligible_items` by campaign key, counted up to `most`.

    The result may omit campaigns without eligible items. `with_training` contains the keys of campaigns that start with
    training, which saves one query per campaign. If both arguments are set, the number of queries is constant.
    """
    counts: dict[int, int] = {}
    alike: dict[Rule, list[int]] = defaultdict(list)
    with_checks: list[QuerySet[Item, tuple[int]]] = []
    for campaign, member in campaigns.items():
        has_training = None if with_training is None else campaign.pk in with_training
        if has_checks(campaign):
            waiting = eligible_items(campaign, by, member, has_training=has_training)
            if most is None:
                counts[campaign.pk] = waiting.count()
            else:
                with_checks.append(waiting.order_by().values_list("campaign")[:most])
        elif rule := rule_for(campaign, member, has_training=has_training):
            alike[rule].append(campaign.pk)
    for rule, keys in alike.items():
        sql = _count_of(rule, most)
        counts |= dict(fetch(sql, {"campaigns": [Int8(key) for key in keys], "by": by.pk}))
    return counts | _count_rows(with_checks)


def _count_rows(parts: list[QuerySet[Item, tuple[int]]]) -> dict[int, int]:
    """Return the number of rows for each campaign, using one query."""
    counts: dict[int, int] = defaultdict(int)
    if parts:
        for (campaign,) in parts[0].union(*parts[1:], all=True) if parts[1:] else parts[0]:
            counts[campaign] += 1
    return counts


@cache
def _count_of(rule: Rule, most: int | None) -> str:
    def keys(campaign: int, by: int) -> QuerySet[Item]:
        waiting = items_for(campaign, by, rule)
        return waiting.order_by().only("pk")[:most]

    return _COUNT.format(keys=PreparedQuery(keys).sql.replace("%(campaign)s", "wanted.id"))
