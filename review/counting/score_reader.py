"""Reads scores, adjudications and times of work as plain values, in a fixed number of queries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import QuerySet

from pipeline.types import Arm
from review.models import Assignment, Score
from review.study import GivenScore, Stage


class Work(NamedTuple):
    """What a reviewer has done with an item: submitted or passed it over, and on which day (UTC)."""

    reviewer: int
    state: str
    day: str


class Scores(NamedTuple):
    """All scores of an item, where each counts just as it was given: one of each reviewer, stage by stage.

    `given` is None where the study's rules have to choose among them.
    """

    given: dict[Stage, list[tuple[int, int]]] | None
    seconds: dict[int, float]  # each reviewer's active time, where it is known


def passed_over(work: Iterable[Work]) -> tuple[tuple[int, str], ...]:
    """Who skipped it, or could not judge, each with which of the two."""
    return tuple((one.reviewer, one.state) for one in work if one.state != "submitted")


def fetch(query: str, keys: Iterable[int]) -> list[tuple[Any, ...]]:
    """The rows of a query that asks for keys as one array: a thousand parameters take longer than their rows."""
    with connection.cursor() as cursor:
        cursor.execute(query, [list(keys)])
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows


def read_work(items: Collection[int]) -> dict[int, list[Work]]:
    """Who is through with each item, and who passed it over."""
    found: dict[int, list[Work]] = defaultdict(list)
    query = """
        SELECT item_id, reviewer_id, state, coalesce(to_char(ended_at AT TIME ZONE 'UTC', 'YYYY-MM-DD'), '')
        FROM review_assignment
        WHERE item_id = ANY(%s) AND state IN ('submitted', 'skipped', 'cannot_judge') ORDER BY id
    """
    for item, reviewer, state, day in fetch(query, items):
        found[item].append(Work(reviewer, state, day))
    return found


def read_adjudicated(items: Collection[int]) -> dict[int, dict[tuple[Stage, Arm], int]]:
    """The final scores that somebody settled."""
    found: dict[int, dict[tuple[Stage, Arm], int]] = defaultdict(dict)
    query = "SELECT item_id, stage, arm, value FROM review_adjudication WHERE item_id = ANY(%s) AND current"
    for item, stage, arm, value in fetch(query, items):
        found[item][Stage(stage), Arm(arm)] = value
    return found


def read_at_once(items: Collection[int]) -> dict[int, Scores]:
    """The scores of each item that has any, which the database has put together.

    Chosen among are scores that were changed, that were given when something was visible or because others differed,
    that were copied from another arm, and those of an expert's refinement: `read_scores` has these one by one.
    """
    query = """
        SELECT score.item_id,
               string_agg(score.stage || ' ' || score.reviewer_id || ' ' || score.value || ' '
                          || coalesce(score.active_seconds::text, ''), ',' ORDER BY score.reviewer_id),
               bool_and(score.current AND score.blind AND score.arm = 'model'
                        AND NOT score.visible ? 'copied_from'
                        AND assignment.reason IS DISTINCT FROM 'tie_break')
        FROM review_score score LEFT JOIN review_assignment assignment ON assignment.id = score.assignment_id
        WHERE score.item_id = ANY(%s) GROUP BY score.item_id
    """
    return {item: _read_text(text, is_plain) for item, text, is_plain in fetch(query, items)}


def _read_text(text: str, is_plain: bool) -> Scores:
    given: dict[Stage, list[tuple[int, int]]] = {}
    seconds: dict[int, float] = {}
    for score in text.split(","):
        name, reviewer, value, active = score.split(" ")
        key = int(reviewer)
        given.setdefault(_STAGES[name], []).append((key, int(value)))
        if active:
            seconds[key] = seconds.get(key, 0.0) + float(active)
    return Scores(given if is_plain else None, seconds)


_STAGES = {stage.value: stage for stage in Stage}


class ScoreRow(NamedTuple):
    """One score as its table has it, and whose feedback its text was made from."""

    pk: int
    item: int
    reviewer: int
    stage: str
    arm: str
    value: int
    current: bool
    blind: bool
    visible: dict[str, object]
    active_seconds: float | None
    reason: str | None
    feedback: int | None
    feedback_arm: str | None
    feedback_author: int | None

    @property
    def place(self) -> tuple[int, int, str, str]:
        """Where there is one current score."""
        return self.item, self.reviewer, self.stage, self.arm

    @property
    def given(self) -> GivenScore:
        """The score as the study's rules want it."""
        by_expert = self.feedback_arm == Arm.EXPERT.value
        return GivenScore(
            reviewer=self.reviewer,
            stage=Stage(self.stage),
            value=self.value,
            order=self.pk,
            arm=Arm(self.arm),
            text=self.feedback or 0 if by_expert else 0,
            is_blind=self.blind,
            was_called_in=self.reason == Assignment.Reason.TIE_BREAK,
            is_author=by_expert and self.feedback_author == self.reviewer,
            is_copied="copied_from" in self.visible,
        )


def read_scores(items: Sequence[int]) -> dict[int, list[ScoreRow]]:
    """Every score ever given of a stage that has a current one; the study's rules choose among them."""
    found: dict[int, list[ScoreRow]] = defaultdict(list)
    rows = [ScoreRow(*row) for row in _scores_of(items)]
    current = {row.place for row in rows if row.current}
    for row in rows:
        if row.place in current:
            found[row.item].append(row)
    return found


def _scores_of(items: Sequence[int]) -> QuerySet[Score, tuple[Any, ...]]:
    return (
        Score.objects.filter(item__in=items)
        .order_by("pk")
        .values_list(
            *("pk", "item", "reviewer", "stage", "arm", "value", "current", "blind", "visible"),
            *("active_seconds", "assignment__reason"),
            *("draft__feedback", "draft__feedback__arm", "draft__feedback__author"),
        )
    )


def add_up(seconds: Iterable[float | None]) -> float | None:
    """Their sum, and None where none is known."""
    known = [one for one in seconds if one is not None]
    return sum(known) if known else None
