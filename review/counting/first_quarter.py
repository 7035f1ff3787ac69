"""Calculate the figures without the first quarter of each reviewer's scores, when reviewers are still learning.

Every new score moves the end of this quarter, so the figures are not stored. The figures are calculated on request in
campaigns with at most MOST_ITEMS items.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from core.translation import gettext_noop as _
from review.counting.contributions import read_kept
from review.counting.facts import read_facts
from review.counting.score_reader import fetch
from review.models import Campaign
from review.study import ItemPattern, Reading, pattern_of
from review.study.figures import Clusters, reduce_to_figures

MOST_ITEMS = 5_000
NOT_WORKED_OUT = _("not calculated for studies with more than 5,000 items")
_SLICE = 1_000

# The query sorts scores by time, then by primary key. Scores without a time are excluded, because their order is
# unknown. Scores copied from another arm count only in the original arm. Fewer than four scores have no first quarter.
_EARLY = """
    SELECT id, item_id FROM (
        SELECT score.id, score.item_id, count(*) OVER (PARTITION BY reviewer_id) AS every,
               row_number() OVER (PARTITION BY reviewer_id ORDER BY score.at, score.id) AS place
        FROM review_score score JOIN review_item item ON item.id = score.item_id
        JOIN review_case "case" ON "case".id = item.case_id
        JOIN review_campaign campaign ON campaign.id = item.campaign_id
        WHERE item.campaign_id = ANY(%s) AND "case".purpose = 'real' AND item.state <> 'withdrawn'
          AND (NOT item.pilot OR campaign.pilot_counts)
          AND score.timed AND NOT score.visible ? 'copied_from'
    ) AS given WHERE place * 4 <= every
"""
_SAME_CASES = """
    SELECT other.id FROM review_item other
    WHERE other.case_id IN (SELECT case_id FROM review_item WHERE id = ANY(%s)) ORDER BY other.id
"""
_ITEMS = """
    SELECT item.id, item.configuration_id, item.pattern,
        coalesce(nullif(action.statement_sha256, ''), 'case ' || item.case_id)
    FROM review_item item JOIN review_case "case" ON "case".id = item.case_id
    JOIN pipeline_action action ON action.id = "case".action_id
    WHERE item.campaign_id = ANY(%s) AND item.pattern <> ''
"""


@dataclass
class WithoutFirstQuarter:
    """A configuration's items under this reading, and its statements with multiple items."""

    items: Counter[ItemPattern] = field(default_factory=Counter)
    clusters: Clusters = field(default_factory=dict)


def read_without_first_quarter(campaign: Campaign) -> dict[int, WithoutFirstQuarter] | None:
    """Return the affected configurations by primary key, or None if the campaign is too large."""
    if campaign.items.count() > MOST_ITEMS:
        return None
    early = dict(fetch(_EARLY, [campaign.pk]))
    if not early:
        return {}
    changed = _judge_without(early)
    if not changed:
        return {}
    found: dict[int, WithoutFirstQuarter] = defaultdict(WithoutFirstQuarter)
    statements: dict[tuple[int, str], list[ItemPattern]] = defaultdict(list)
    touched = set()
    for key, configuration, text, statement in fetch(_ITEMS, [campaign.pk]):
        kept = read_kept(text)
        if not kept.pattern:
            continue
        pattern = changed.get(key) or ItemPattern.from_text(kept.pattern)
        if pattern.to_text() != kept.pattern:
            touched.add(configuration)
        found[configuration].items[pattern] += 1
        statements[configuration, statement].append(reduce_to_figures(pattern))
    clusters: dict[int, Counter[tuple[ItemPattern, ...]]] = defaultdict(Counter)
    for (configuration, _statement), own in statements.items():
        if len(own) > 1:
            clusters[configuration][_in_order(own)] += 1
    for configuration, one in found.items():
        one.clusters = clusters[configuration]
    return {key: one for key, one in found.items() if key in touched}


def _judge_without(early: dict[int, int]) -> dict[int, ItemPattern]:
    """Return the new patterns of items with early scores and of the same cases' items in other arms."""
    keys = [key for (key,) in fetch(_SAME_CASES, set(early.values()))]
    found: dict[int, ItemPattern] = {}
    for start in range(0, len(keys), _SLICE):
        slice_ = keys[start : start + _SLICE]
        facts = read_facts(slice_)
        for rows in facts.scores.values():
            rows[:] = [
                row._replace(is_first_quarter=True) if row.pk in early else row for row in rows
            ]
        for key in slice_:
            pattern = pattern_of(facts.judge(key), Reading.WITHOUT_FIRST_QUARTER)
            if pattern is not None:
                found[key] = pattern
    return found


def _in_order(patterns: Sequence[ItemPattern]) -> tuple[ItemPattern, ...]:
    return tuple(sorted(patterns, key=ItemPattern.to_text))
