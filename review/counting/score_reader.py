"""Read scores, adjudications and assignments as plain values, in a fixed number of queries.

`read_scores` is the only function that reads scores for the study's rules. Only `review.study.patterns` decides which
scores count.
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
    """A reviewer's assignment to an item, with its state and, unless it was imported, the date (UTC) when it ended."""

    reviewer: int
    state: str
    day: str


class ScoreRow(NamedTuple):
    """A database row of a score. If `is_author`, the script was refined from the reviewer's own feedback."""

    item: int
    reviewer: int
    stage: str
    value: int
    arm: str
    # According to the score's record, the page showed only data that the stage allows.
    is_blind: bool
    is_undone: bool
    is_copied: bool  # copied from another arm with the same text
    was_called_in: bool
    is_author: bool
    text: int  # ID of the feedback if an expert wrote it, otherwise 0
    round: int
    active_seconds: float | None
    is_imported: bool
    is_timed: bool
    at: datetime
    pk: int
    # The score is in the first quarter of the reviewer's scores. Set by `review.counting.first_quarter`.
    is_first_quarter: bool = False

    @property
    def rank(self) -> tuple[bool, datetime, int]:
        """Return a sort key for chronological order. Scores without a time come first."""
        return self.is_timed, self.at, self.pk


class Word(NamedTuple):
    """An adjudication: the final score for a stage, and a sort key that is greater for later adjudications."""

    at: tuple[datetime, int]
    value: int


def passed_over(work: Iterable[Work]) -> tuple[tuple[int, str], ...]:
    """Return the reviewers who skipped the item or could not judge it, each with the state of their assignment."""
    return tuple((one.reviewer, one.state) for one in work if one.state in _PASSED_OVER)


def fetch(query: str, keys: Iterable[int]) -> list[tuple[Any, ...]]:
    """Return the rows of a query. The keys are passed as one array, because a thousand separate parameters are slow."""
    with connection.cursor() as cursor:
        cursor.execute(query, [list(keys)])
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows


def read_work(items: Collection[int]) -> dict[int, list[Work]]:
    """Return the assignments of each item."""
    found: dict[int, list[Work]] = defaultdict(list)
    query = """
        SELECT item_id, reviewer_id, state,
               CASE WHEN reason = 'imported' THEN ''
                    ELSE coalesce(to_char(ended_at AT TIME ZONE 'UTC', 'YYYY-MM-DD'), '') END
        FROM review_assignment
        WHERE item_id = ANY(%s) ORDER BY id
    """
    for item, reviewer, state, day in fetch(query, items):
        found[item].append(Work(reviewer, state, day))
    return found


def read_words(items: Collection[int]) -> dict[int, dict[tuple[Stage, Arm], Word]]:
    """Return the current adjudications of each item."""
    found: dict[int, dict[tuple[Stage, Arm], Word]] = defaultdict(dict)
    query = """
        SELECT item_id, stage, arm, value, at, id FROM review_adjudication
        WHERE item_id = ANY(%s) AND current
    """
    for item, stage, arm, value, at, key in fetch(query, items):
        found[item][Stage(stage), Arm(arm)] = Word((at, key), value)
    return found


def read_scores(items: Collection[int]) -> dict[int, list[ScoreRow]]:
    """Return all scores of each item in chronological order.

    Scores without a time come first. Scores with the same time are in the order in which they were saved.
    """
    found: dict[int, list[ScoreRow]] = defaultdict(list)
    for row in fetch(_SCORES, items):
        found[row[0]].append(ScoreRow(*row))
    return found


# A score is blind if the page did not show any data that the campaign hides. Feedback is hidden only at the script
# stage. If the campaign doesn't hide verdicts, every score is blind unless its own record says otherwise.
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
    """Return the sum of the known values, or None if no value is known."""
    known = [one for one in seconds if one is not None]
    return sum(known) if known else None
