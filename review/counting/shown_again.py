"""Read the items that were shown twice, with both sets of values. The rules are the same as for the figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from review.counting.contributions import read_kept
from review.counting.facts import given_score, read_facts
from review.counting.score_reader import ScoreRow, fetch, read_scores
from review.models import Campaign, Item
from review.study import ItemPattern, Stage, value_by_reviewer, values_by_text

_SLICE = 1_000
_PAIRS = """
    SELECT shown.id, original.id, original.pattern, action.statement_sha256
    FROM review_item shown JOIN review_item original
      ON original.campaign_id = shown.campaign_id AND original.run_id = shown.run_id AND original.again = ''
    JOIN review_case "case" ON "case".id = original.case_id
    JOIN pipeline_action action ON action.id = "case".action_id
    WHERE shown.campaign_id = ANY(%s) AND shown.again = '{again}'
      AND shown.state <> 'withdrawn' AND original.state <> 'withdrawn'
    ORDER BY shown.id
"""


class _Pair(NamedTuple):
    shown: int
    original: int
    pattern: str
    statement: str


class Halo(NamedTuple):
    """A halo check: a refined script that was shown as a first Draft, with its original item and its scores."""

    original: ItemPattern | None
    values: list[int]
    statement: str


def read_repeats(campaign: Campaign) -> Iterator[tuple[int, int, int]]:
    """Yield (reviewer, first value, second value) for each text that the same reviewer scored twice."""
    hides = campaign.hides_verdict
    for pairs in _slices(campaign, Item.Again.REPEAT.value):
        facts = read_facts([pair.original for pair in pairs])
        shown = read_scores([pair.shown for pair in pairs])
        for pair in pairs:
            judged = facts.judge(pair.original)
            if not judged.is_real:
                continue
            before = values_by_text(judged.scores, hides=hides)
            again = values_by_text(
                (given_score(row, order) for order, row in enumerate(shown[pair.shown])),
                hides=hides,
            )
            for text, values in again.items():
                first = before.get(text, {})
                for reviewer in sorted(values.keys() & first.keys()):
                    yield reviewer, first[reviewer], values[reviewer]


def read_halos(campaign: Campaign) -> Iterator[Halo]:
    """Yield every halo check, including those without scores."""
    for pairs in _slices(campaign, Item.Again.HALO.value):
        shown = read_scores([pair.shown for pair in pairs])
        for pair in pairs:
            text = read_kept(pair.pattern).pattern
            values = _script_values(shown[pair.shown], hides=campaign.hides_verdict)
            yield Halo(
                ItemPattern.from_text(text) if text else None,
                values,
                pair.statement or f"item {pair.original}",
            )


def _script_values(rows: Sequence[ScoreRow], *, hides: bool) -> list[int]:
    scores = (given_score(row, order) for order, row in enumerate(rows))
    own = (score for score in scores if score.stage is Stage.SCRIPT)
    return list(value_by_reviewer(own, hides=hides).values())


def _slices(campaign: Campaign, again: str) -> Iterator[list[_Pair]]:
    pairs = [_Pair(*row) for row in fetch(_PAIRS.format(again=again), [campaign.pk])]
    for start in range(0, len(pairs), _SLICE):
        yield pairs[start : start + _SLICE]
