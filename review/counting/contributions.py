"""An item's contribution to its campaign's counts, and how it is stored on the item.

Kept is one text: the item's pattern, what each reviewer gave at each stage, and what adds up over items. Of most
items every score counts just as it was given; those are told apart by the database and judged by their number of
0, 1 and 2, once for all that are alike. The others are judged one by one. Both go by `study.pattern_of`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from django.db.models import Q

from pipeline.types import Arm
from review.counting.item_facts import ItemRow, Situation, judge_rows, read_situations
from review.counting.score_reader import (
    Scores,
    Work,
    passed_over,
    read_adjudicated,
    read_at_once,
    read_work,
)
from review.models import Item, Tally
from review.study import GivenScore, Judged, Stage, cells_of, pattern_of, values_given, values_of
from review.study.agreement import Values
from review.study.final_scores import final_of
from review.study.patterns import ReviewerValues
from review.study.types import Standing

_ITEM, _VALUES, _PAIR, _SUM = (
    kind.value for kind in (Tally.Kind.ITEM, Tally.Kind.VALUES, Tally.Kind.PAIR, Tally.Kind.SUM)
)
# Sums that say how the work goes on, and nothing of what was found: `@day:2026-01-31:17` is what reviewer 17 was
# through with that day (UTC), `@time:17` their seconds, `@left` the reviews that are still wanted.
DAY, TIME, LEFT = "@day:", "@time:", "@left"
WORK = Q(kind=_SUM, pattern__startswith="@")


def bring(rows: Sequence[ItemRow]) -> dict[int, tuple[str, bool]]:
    """What each item brings, as it is kept, and whether its reviewers differ and nobody has settled it."""
    keys = [row.pk for row in rows]
    situations, work = read_situations(rows), read_work(keys)
    scores, settled = read_at_once(keys), read_adjudicated(keys)
    brought, others = {}, []
    for row in rows:
        situation, own = situations[row.pk], scores.get(row.pk, _NO_SCORES)
        if own.given is None or situation.is_sham or row.pk in settled:
            others.append(row)
        else:
            sums = _sum_work(row, work[row.pk], own.seconds)
            passed = passed_over(work[row.pk])
            brought[row.pk] = _bring_at_once(situation, own, passed, sums)
    judged = judge_rows(others, situations, work)
    for row in others:
        own = scores.get(row.pk, _NO_SCORES)
        sums = _sum_work(row, work[row.pk], own.seconds)
        brought[row.pk] = _bring_judged(judged[row.pk], sums)
    return brought


def count_text(text: str, counts: Counter[str], *, times: int) -> None:
    """Add so many times what an item with this text brings: kind and pattern of each tally, and its number."""
    if not text:
        return
    pattern, given, sums = json.loads(text)
    keys = [f"{_ITEM} {pattern}"] if pattern else []
    for stage, pairs in given.items():
        keys.append(f"{_VALUES} {stage}|%d,%d,%d" % values_of(pairs))
        cell = f"{_PAIR} {stage}|%d,%d,%d,%d"
        keys += [cell % one for one in cells_of(pairs)]
    if times == 1:
        counts.update(keys)
    else:
        counts.subtract(keys)
    for name, number in sums.items():
        counts[f"{_SUM} {name}"] += times * number


_NO_SCORES = Scores({}, {})
PassedOver = tuple[tuple[int, str], ...]


def _bring_at_once(
    situation: Situation, scores: Scores, passed: PassedOver, sums: dict[str, int]
) -> tuple[str, bool]:
    given = scores.given or {}
    counts = [_shorten(values_of(given.get(stage, ()))) for stage in Stage]
    pattern = _pattern_of_counts(situation, *counts, was_skipped=bool(passed))
    if not pattern:
        return _write("", {}, sums), False
    known = sum(scores.seconds.values()) if scores.seconds else None
    sums |= _sum_item(situation.is_demo, known, passed, situation.verdict)
    return _write(pattern, given, sums), situation.is_complete and _differ(given.values())


@lru_cache(maxsize=4_096)
def _shorten(values: Values) -> Values:
    """The fewest values with the same final score, so that more items are alike."""
    standing = final_of(_list_values(values))
    if standing is Standing.UNSCORED:
        return values
    if standing is Standing.UNRESOLVED:
        return Values(1, 0, 1)
    return values_of([(0, int(standing.value))])


def _list_values(values: Values) -> list[int]:
    return [value for value, times in enumerate(values) for _ in range(times)]


@lru_cache(maxsize=65_536)
def _pattern_of_counts(
    situation: Situation, script: Values, feedback: Values, refined: Values, *, was_skipped: bool
) -> str:
    """The pattern of an item of whose reviewers so many gave 0, 1 and 2 at each stage."""
    scores = (
        GivenScore(reviewer=reviewer, stage=stage, value=value)
        for stage, counts in zip(Stage, (script, feedback, refined), strict=True)
        for reviewer, value in enumerate(_list_values(counts))
    )
    passed = ((0, "skipped"),) if was_skipped else ()
    pattern = pattern_of(situation.judge(scores, passed_over=passed))
    return pattern.to_text() if pattern else ""


def _bring_judged(judged: Judged, sums: dict[str, int]) -> tuple[str, bool]:
    pattern = pattern_of(judged)
    if pattern is None:
        return _write("", {}, sums), False
    given = {stage: found for stage in Stage if (found := values_given(judged, stage))}
    sums |= _sum_item(
        judged.is_demo, judged.active_seconds, judged.passed_over, judged.verdict or ""
    )
    unsettled = [
        pairs for stage, pairs in given.items() if (stage, Arm.MODEL) not in judged.adjudicated
    ]
    return _write(pattern.to_text(), given, sums), judged.is_complete and _differ(unsettled)


def _write(pattern: str, given: Mapping[Stage, ReviewerValues], sums: Mapping[str, int]) -> str:
    if not (pattern or sums):
        return ""
    return json.dumps(
        [pattern, {stage.value: given[stage] for stage in Stage if stage in given}, sums]
    )


def _differ(stages: Iterable[ReviewerValues]) -> bool:
    """Whether two reviewers gave different values at one of these stages."""
    return any(len({value for _reviewer, value in given}) > 1 for given in stages)


def _sum_item(
    is_demo: bool,
    seconds: float | None,
    passed: PassedOver,
    verdict: str,
) -> dict[str, int]:
    """Items of the demo model, items with a known time and their seconds, and who passed how many over."""
    sums: Counter[str] = Counter()
    if is_demo:
        sums["demo"] = 1
    if seconds is not None:
        sums["timed"] = 1
        sums["seconds"] = round(seconds)
    for reviewer, how in passed:
        sums[f"{how}|{reviewer}|{verdict}"] += 1
    return dict(sums)


def _sum_work(row: ItemRow, work: Iterable[Work], seconds: Mapping[int, float]) -> dict[str, int]:
    sums: Counter[str] = Counter()
    for one in work:
        if one.state == "submitted":
            sums[f"{DAY}{one.day}:{one.reviewer}"] += 1
    for reviewer, long in seconds.items():
        sums[f"{TIME}{reviewer}"] = round(long)
    if row.purpose == "real" and row.state in _UNDER_REVIEW and row.overlap > row.done:
        sums[LEFT] = row.overlap - row.done
    return dict(sums)


_UNDER_REVIEW = (Item.State.OPEN.value, Item.State.HELD.value)
