"""Read the values of all reviewer pairs for whole statements.

The tallies store each reviewer pair separately, which is enough to compute the pair's kappa. A mean over pairs is
bootstrapped by whole statements. Studies that are small enough read the statements from the items.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from django.db import connection

from review.counting.contributions import read_kept
from review.counting.statements import Counted, Given, unshared
from review.models import Campaign
from review.study import PairCells, Stage, pairs_of

Statements = dict[Stage, Counter[tuple[PairCells, ...]]]

_ITEMS = """
    SELECT coalesce(nullif(action.statement_sha256, ''), 'case ' || item.case_id), item.case_id,
        item.configuration_id, item.pattern
    FROM review_item item
    JOIN review_case "case" ON "case".id = item.case_id
    JOIN pipeline_action action ON action.id = "case".action_id
    WHERE item.campaign_id = %s AND item.pattern <> ''
"""


def read_statements(campaign: Campaign) -> dict[int | None, Statements]:
    """Return the counts of statements by the values of their reviewer pairs, for each configuration.

    The key None contains the total, in which each text counts once.
    """
    by_statement: dict[str, list[Counted]] = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute(_ITEMS, [campaign.pk])
        for statement, case, configuration, text in cursor.fetchall():
            kept = read_kept(text)
            if kept.pattern:
                by_statement[statement].append(Counted(case, configuration, kept))
    found: dict[int | None, Statements] = defaultdict(lambda: {stage: Counter() for stage in Stage})
    for items in by_statement.values():
        arms: dict[int, list[Counted]] = defaultdict(list)
        for item in items:
            arms[item.configuration].append(item)
        for configuration, own in arms.items():
            _add(found[configuration], (item.kept.given for item in own))
        several = len(arms) > 1
        _add(found[None], (unshared(one.kept) if several else one.kept.given for one in items))
    return found


def _add(statements: Statements, items: Iterable[Given]) -> None:
    given = list(items)
    for stage in Stage:
        pairs = tuple(
            sorted(pairs_of([(r, v) for r, v in one[stage]] for one in given if stage in one))
        )
        if pairs:
            statements[stage][pairs] += 1
