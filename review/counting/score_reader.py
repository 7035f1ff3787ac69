"""Reads scores, adjudications and times of work as plain values, in a fixed number of queries.

There is one way from rows to what the study's rules ask: `read_scores`. Each row says what was given; which of them
count is said by `review.study.patterns` and nowhere else.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection

from pipeline.types import Arm
from review.models import Assignment
from review.study import Stage

_CALLED_IN = Assignment.Reason.TIE_BREAK.value
_PASSED_OVER = (Assignment.State.SKIPPED.value, Assignment.State.CANNOT_JUDGE.value)


class Work(NamedTuple):
    """What a reviewer had of an item, how it stands with them, and on which day it ended (UTC)."""

    reviewer: int
    state: str
    day: str


class ScoreRow(NamedTuple):
    """One score as its table has it, and whose feedback its text was made from."""

    item: int
    reviewer: int
    stage: str
    value: int
    arm: str
    # No more was visible than its stage shows, by what was recorded with it.
    is_blind: bool
    is_undone: bool
    is_copied: bool  # from the same text in another arm, where it was given
    was_called_in: bool
    is_author: bool
    text: int  # tells the refinements by several experts apart
    round: int
    active_seconds: float | None
    is_imported: bool
    is_timed: bool
    at: datetime
    pk: int
    # Of all that its reviewer scored in the campaign; told by who asks, see `review.counting.first_quarter`.
    is_first_quarter: bool = False

    @property
    def rank(self) -> tuple[bool, datetime, int]:
        """Grows with the time at which it was given."""
        return self.is_timed, self.at, self.pk


class Word(NamedTuple):
    """What somebody settled: the final score of a stage, and when; later ones are greater."""

    at: tuple[datetime, int]
    value: int


def passed_over(work: Iterable[Work]) -> tuple[tuple[int, str], ...]:
    """Who skipped it, or could not judge, each with which of the two."""
    return tuple((one.reviewer, one.state) for one in work if one.state in _PASSED_OVER)


def fetch(query: str, keys: Iterable[int]) -> list[tuple[Any, ...]]:
    """The rows of a query that asks for keys as one array: a thousand parameters take longer than their rows."""
    with connection.cursor() as cursor:
        cursor.execute(query, [list(keys)])
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows


def read_work(items: Collection[int]) -> dict[int, list[Work]]:
    """Who had each item, whether they have it still, and who passed it over."""
    found: dict[int, list[Work]] = defaultdict(list)
    query = """
        SELECT item_id, reviewer_id, state, coalesce(to_char(ended_at AT TIME ZONE 'UTC', 'YYYY-MM-DD'), '')
        FROM review_assignment
        WHERE item_id = ANY(%s) ORDER BY id
    """
    for item, reviewer, state, day in fetch(query, items):
        found[item].append(Work(reviewer, state, day))
    return found


def read_words(items: Collection[int]) -> dict[int, dict[tuple[Stage, Arm], Word]]:
    """The final scores that somebody settled."""
    found: dict[int, dict[tuple[Stage, Arm], Word]] = defaultdict(dict)
    query = """
        SELECT item_id, stage, arm, value, at, id FROM review_adjudication
        WHERE item_id = ANY(%s) AND current
    """
    for item, stage, arm, value, at, key in fetch(query, items):
        found[item][Stage(stage), Arm(arm)] = Word((at, key), value)
    return found


def read_scores(items: Collection[int]) -> dict[int, list[ScoreRow]]:
    """Every score ever given to each item, in the order of time.

    One without a time comes before any with one, and of two at the same time the one that was stored, or stood in
    its file, later comes later.
    """
    found: dict[int, list[ScoreRow]] = defaultdict(list)
    for row in fetch(_SCORES, items):
        found[row[0]].append(ScoreRow(*row))
    return found


# Whether a score is blind: what a campaign hides must not have been visible; the stage of feedback shows the
# feedback. Where verdicts are not hidden at all, only what its own record says makes a score not blind.
IS_BLIND = """
    (score.blind AND NOT (
        campaign.hides_verdict AND score.visible <> '{}' AND (
            score.visible @> '{"verdict": true}'
            OR score.stage = 'script' AND score.visible @> '{"feedback": true}'
            OR campaign.hides_models AND score.visible @> '{"models": true}'
            OR campaign.hides_reviewers AND score.visible @> '{"reviewers": true}'
            OR campaign.hides_execution AND score.visible @> '{"execution": true}'
            OR campaign.hides_reference AND score.visible @> '{"reference": true}'
        )
    ))
"""
_SCORES = f"""
    SELECT score.item_id, score.reviewer_id, score.stage, score.value, score.arm,
           {IS_BLIND},
           score.undone_at IS NOT NULL,
           score.visible ? 'copied_from',
           coalesce(assignment.reason = '{_CALLED_IN}', false),
           coalesce(feedback.arm = 'expert' AND feedback.author_id = score.reviewer_id, false),
           CASE WHEN feedback.arm = 'expert' THEN feedback.id ELSE 0 END,
           CASE WHEN score.stage = 'refined' AND score.arm = 'model' THEN greatest(draft.round, 1) ELSE 1 END,
           score.active_seconds, score.imported, score.timed, score.at, score.id
    FROM review_score score
    JOIN review_item item ON item.id = score.item_id
    JOIN review_campaign campaign ON campaign.id = item.campaign_id
    LEFT JOIN review_assignment assignment ON assignment.id = score.assignment_id
    LEFT JOIN pipeline_draft draft ON draft.id = score.draft_id
    LEFT JOIN pipeline_feedback feedback ON feedback.id = draft.feedback_id
    WHERE score.item_id = ANY(%s)
    ORDER BY score.timed, score.at, score.id
"""


def add_up(seconds: Iterable[float | None]) -> float | None:
    """Their sum, and None where none is known."""
    known = [one for one in seconds if one is not None]
    return sum(known) if known else None
