"""Compute an item's contribution to its campaign's counts, and convert it to the text that is stored in the item.

The stored text contains the item's pattern, the reviewers' values per stage, and the sums. The text also contains the
stages that share their text with an earlier item of the case, and the patterns that differ under other readings.
Results are cached for items with equal scores. The rules are in `review.study.patterns`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from django.db.models import Q

from pipeline.types import Arm
from review.counting.facts import Facts, given_score
from review.counting.item_facts import STAGES, ItemRow, Situation
from review.counting.score_reader import ScoreRow, Work, add_up, passed_over
from review.models import Item, Tally
from review.study import (
    Reading,
    Stage,
    not_blind_of,
    pattern_of,
    stages_to_settle,
    values_given,
)
from review.study.patterns import ReviewerValues
from review.study.types import OtherForm

_SUM = Tally.Kind.SUM.value
# Sums that describe progress. `@day:2026-01-31:17` is the number of items that reviewer 17 submitted on that day in
# UTC, without imported work. `@time:17` is this reviewer's total time in seconds. `@left` is the number of reviews that
# are still needed.
DAY, TIME, LEFT = "@day:", "@time:", "@left"
WORK = Q(kind=_SUM, pattern__startswith="@")
# Sums of items with a score that was not imported, and of scores that are not blind (`not_blind:STAGE:VERDICT:VALUE`).
HERE, NOT_BLIND = "here", "not_blind:"
# `Reading.WITHOUT_FIRST_QUARTER` is not stored, because each new score moves the end of the quarter. See
# `first_quarter`.
_READINGS = (Reading.WITH_NOT_BLIND, Reading.WITHOUT_CALLED_IN)


class Contribution(NamedTuple):
    """An item's contribution in its stored form. If `disputed`, an adjudicator must settle a score."""

    text: str
    disputed: bool


class Kept(NamedTuple):
    """A parsed contribution. `shared` lists the stages that share their text with an earlier item of the case."""

    pattern: str
    given: Mapping[str, list[list[int]]]
    sums: Mapping[str, int]
    shared: tuple[str, ...]
    readings: Mapping[str, str]


_NOTHING = Kept("", {}, {}, (), {})


def read_kept(text: str) -> Kept:
    """Parse the text that `bring` returns. An empty string is an empty contribution.

    Raises OtherForm if another release wrote the text in a different format.
    """
    if not text:
        return _NOTHING
    parts = json.loads(text)
    if len(parts) != len(Kept._fields):
        raise OtherForm(f"not what an item brings: {text!r}")
    pattern, given, sums, shared, readings = parts
    return Kept(pattern, given, sums, tuple(shared), readings)


def bring(facts: Facts, key: int) -> Contribution:
    """Return an item's contribution."""
    row, situation, work = facts.rows[key], facts.situations[key], facts.work.get(key, [])
    own = facts.scores.get(key, [])
    sums = _sum_work(row, work, own)
    if not situation.is_real:
        return Contribution(_write("", {}, sums, (), ()) if sums else "", False)
    scores = facts.scores_of(key)
    passed = passed_over(work)
    cannot, gone = facts.cannot_judge(key), facts.gone(key)
    reviewers = sorted({score.reviewer for score in scores} | cannot)
    places = {reviewer: place for place, reviewer in enumerate(reviewers)}
    found = _judge(
        situation,
        tuple(_Alike(places[score.reviewer], *score[2:12]) for score in scores),
        tuple(sorted(facts.words_of(key).items())),
        frozenset(places[reviewer] for reviewer in cannot),
        frozenset(places[reviewer] for reviewer in gone),
        bool(passed),
    )
    given = {
        stage: [(reviewers[place], value) for place, value in pairs] for stage, pairs in found.given
    }
    sums |= _sum_item(situation, own, passed) | dict(found.not_blind)
    shared = [stage.value for stage in given if not facts.is_first(key, stage)]
    disputed = any(
        arm is not Arm.MODEL or facts.is_first(key, stage) for stage, arm in found.to_settle
    )
    return Contribution(_write(found.pattern, given, sums, shared, found.readings), disputed)


class _Alike(NamedTuple):
    """A score that can be compared across items, with an index instead of the reviewer and without the time."""

    reviewer: int
    stage: str
    value: int
    arm: str
    is_blind: bool
    is_undone: bool
    is_copied: bool
    was_called_in: bool
    is_author: bool
    text: int
    round: int
    is_first_quarter: bool = False


class _Judged(NamedTuple):
    """The contribution of all items with the same situation and scores, with indexes instead of reviewers."""

    pattern: str
    given: tuple[tuple[Stage, tuple[tuple[int, int], ...]], ...]
    to_settle: tuple[tuple[Stage, Arm], ...]
    not_blind: tuple[tuple[str, int], ...]
    readings: tuple[tuple[str, str], ...]


# Many items have the same arguments, and the cached results are small.
@lru_cache(maxsize=65_536)
def _judge(
    situation: Situation,
    scores: tuple[_Alike, ...],
    words: tuple[tuple[tuple[Stage, Arm], int], ...],
    cannot_judge: frozenset[int],
    gone: frozenset[int],
    was_skipped: bool,
) -> _Judged:
    judged = situation.judge(
        (given_score(score, order) for order, score in enumerate(scores)),
        adjudicated=dict(words),
        cannot_judge=cannot_judge,
        gone=gone,
        passed_over=((0, "skipped"),) if was_skipped else (),
    )
    pattern = pattern_of(judged)
    assert pattern is not None, "only real items are judged"
    plain = pattern.to_text()
    readings = (
        (reading.value, other.to_text())
        for reading in _READINGS
        if _matters(reading, scores) and (other := pattern_of(judged, reading)) is not None
    )
    not_blind = Counter(
        f"{NOT_BLIND}{stage.value}:{situation.verdict}:{value}"
        for stage, value in not_blind_of(judged)
    )
    return _Judged(
        plain,
        tuple((stage, tuple(pairs)) for stage in STAGES if (pairs := values_given(judged, stage))),
        tuple(stages_to_settle(judged)),
        tuple(not_blind.items()),
        tuple((name, text) for name, text in readings if text != plain),
    )


def _matters(reading: Reading, scores: Iterable[_Alike]) -> bool:
    """Return whether the reading can differ from the default reading for these scores."""
    if reading is Reading.WITHOUT_CALLED_IN:
        return any(score.was_called_in for score in scores)
    return any(not score.is_blind for score in scores)


def _write(
    pattern: str,
    given: Mapping[Stage, ReviewerValues],
    sums: Mapping[str, int],
    shared: Iterable[str],
    readings: Iterable[tuple[str, str]],
) -> str:
    kept = {stage.value: pairs for stage, pairs in given.items()}
    return json.dumps([pattern, kept, sums, list(shared), dict(readings)])


def _sum_item(
    situation: Situation, own: Iterable[ScoreRow], passed: Iterable[tuple[int, str]]
) -> dict[str, int]:
    """Return the item's sums: demo model, known time, scores that were not imported, and each reviewer's skips."""
    sums: Counter[str] = Counter()
    seconds = add_up(score.active_seconds for score in own)
    if situation.is_demo:
        sums["demo"] = 1
    if seconds is not None:
        sums["timed"] = 1
        sums["seconds"] = round(seconds)
    if any(not score.is_imported for score in own):
        sums[HERE] = 1
    for reviewer, how in passed:
        sums[f"{how}|{reviewer}|{situation.verdict}"] += 1
    return dict(sums)


def _sum_work(row: ItemRow, work: Iterable[Work], own: Iterable[ScoreRow]) -> dict[str, int]:
    """Return the item's sums for progress and pace. Training and gold items have no such sums."""
    sums: Counter[str] = Counter()
    if row.purpose in ("training", "gold"):
        return {}
    for one in work:
        if one.state == "submitted":
            sums[f"{DAY}{one.day}:{one.reviewer}"] += 1
    seconds: Counter[int] = Counter()
    for score in own:
        if score.active_seconds is not None:
            seconds[score.reviewer] += score.active_seconds  # type: ignore[assignment]
    for reviewer, long in seconds.items():
        sums[f"{TIME}{reviewer}"] = round(long)
    if row.purpose == "real" and row.state in _UNDER_REVIEW and row.overlap > row.done:
        sums[LEFT] = row.overlap - row.done
    return dict(sums)


_UNDER_REVIEW = (Item.State.OPEN.value, Item.State.HELD.value)
