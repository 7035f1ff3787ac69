"""Write a slice's scores to the database."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from django.db import connection
from django.utils import timezone

from core.database.bulk_copy import Table, next_keys
from review.counting.score_reader import IS_BLIND
from review.counting.tallies import note_due
from review.exchange.importing.copy_rows import ASSUMED
from review.exchange.importing.known_scores import KnownScores
from review.exchange.rows.score_rows import NOTHING, GivenRow
from review.models import Adjudication, Assignment, Campaign, Flag, Remark, Score
from review.sampling import EVERYBODY


class ScoreStore:
    """Collects a slice's scores and other records, and writes them together.

    `people` maps usernames to primary keys, and `rubrics` maps version numbers to primary keys.
    """

    def __init__(
        self,
        campaign: Campaign,
        known: KnownScores,
        *,
        people: Mapping[str, int],
        rubrics: Mapping[int, int],
        size: int,
    ) -> None:
        self._campaign, self._known, self._size = campaign, known, size
        self._people, self._rubrics = people, rubrics
        self._given: list[tuple[int, int, GivenRow]] = []

    def add(self, item: int, person: int, given: GivenRow) -> None:
        """Queue a score or another record for writing."""
        self._given.append((item, person, given))

    def write(self) -> None:
        """Write all queued records and update the counts of their items."""
        if not self._given:
            return
        items = {item for item, _person, _given in self._given}
        self._write_assignments()
        if self._known.replaced:
            Score.objects.filter(pk__in=self._known.replaced).update(current=False)
        self._write_scores()
        self._write_adjudications()
        self._write_remarks()
        self._write_flags()
        _take_raters_for_all(items)
        _count_done(items)
        note_due(self._campaign, sorted(items))

    def _write_assignments(self) -> None:
        now, rows = timezone.now(), []
        keys = iter(next_keys(Assignment, len(self._given)))
        submitted = self._known.submitted
        for item, person, given in self._given:
            if given.passed_over:
                state = given.passed_over
            elif not given.is_score or (item, person) in submitted:
                continue
            else:
                state = Assignment.State.SUBMITTED.value
            key, at = next(keys), given.at or now
            rows.append(
                (
                    key,
                    item,
                    person,
                    state,
                    given.reason,
                    given.recorded.assigned_at or now,
                    given.recorded.submitted_at or at,
                    given.recorded.pauses,
                    given.comment if given.passed_over else "",
                )
            )
            if not given.passed_over:
                submitted[item, person] = key
        Table(Assignment, _ASSIGNMENT).copy(rows)

    def _write_scores(self) -> None:
        now, rows = timezone.now(), []
        for item, person, given in self._given:
            if not given.is_score:
                continue
            rows.append(
                (
                    *(item, person, given.stage, given.arm, given.value),
                    *self._known.seen_by(item, given),
                    self._known.submitted[item, person],
                    self._known.counts(item, person, given),
                    *(given.blind, given.comment, given.at or now),
                    *(given.at is not None, given.undone_at),
                    *self._recorded(given),
                )
            )
        Table(Score, _SCORE, without_key=True, imported=True).copy(rows)

    def _recorded(self, given: GivenRow) -> tuple[object, ...]:
        """Return the values of the columns in `Recorded`, with primary keys instead of names and version numbers."""
        if given.recorded is NOTHING and not given.copied:
            return _NOT_RECORDED
        recorded = given.recorded
        copied = {"copied_from": "import"} if given.copied else {}
        return (
            *(recorded.visible | copied, recorded.view, recorded.position),
            *(recorded.sitting_minutes, recorded.active_seconds),
            self._rubrics.get(recorded.rubric or 0),
            {stage: self._people[name] for stage, name in recorded.earlier_by.items()},
        )

    def _write_adjudications(self) -> None:
        now = timezone.now()
        rows = [
            (
                *(item, given.stage, given.arm, given.value, given.comment),
                *(person, given.at or now, given.current),
            )
            for item, person, given in self._given
            if given.adjudicates
        ]
        columns = ("item_id", "stage", "arm", "value", "why", "by_id", "at", "current")
        Table(Adjudication, columns, without_key=True, imported=True).copy(rows)

    def _write_flags(self) -> None:
        now, people = timezone.now(), self._people
        rows = [
            (
                *(item, person, given.comment, given.at or now),
                *(flag.answered_at, people.get(flag.answered_by), flag.answer),
            )
            for item, person, given in self._given
            if (flag := given.flag)
        ]
        columns = (
            *("item_id", "by_id", "reason", "at"),
            *("resolved_at", "resolved_by_id", "resolution"),
        )
        Table(Flag, columns, without_key=True).copy(rows)

    def _write_remarks(self) -> None:
        now, drafts = timezone.now(), self._known.drafts
        rows = [
            (
                *(item, person, drafts[item, remark.draft_sha256], remark.line),
                *(given.comment, given.at or now, remark.removed_at),
            )
            for item, person, given in self._given
            if (remark := given.remark)
        ]
        columns = ("item_id", "by_id", "draft_id", "line", "text", "at", "removed_at")
        Table(Remark, columns, without_key=True).copy(rows)


def _take_raters_for_all(items: Collection[int]) -> None:
    """For items that were scored in another system, set `overlap` to 1 unless the file specifies it.

    The campaign's overlap applies to reviews in this installation and would leave these items open.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE review_item AS item SET overlap = 1
            FROM pipeline_run run
            WHERE item.id = ANY(%(items)s) AND run.id = item.run_id AND run.spec ? %(assumed)s
                AND item.overlap > 1 AND item.overlap < %(everybody)s
                AND EXISTS (SELECT FROM review_assignment had
                    WHERE had.item_id = item.id AND had.state = 'submitted')
                AND NOT EXISTS (SELECT FROM review_assignment held
                    WHERE held.item_id = item.id AND held.state IN ('active', 'waiting'))
                AND NOT EXISTS (SELECT FROM review_score given
                    WHERE given.item_id = item.id AND NOT given.imported)
            """,
            {"items": list(items), "assumed": ASSUMED, "everybody": EVERYBODY},
        )


def _count_done(items: Collection[int]) -> None:
    """Update the number of reviewers who finished each item, and close items with enough reviewers.

    If the campaign hides verdicts, a reviewer counts only with a blind score at each scored stage. Places of reviewers
    who do not count become free again.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            UPDATE review_item AS item
            SET done = counted.done,
                places = CASE WHEN item.state IN ('open', 'held')
                    THEN greatest(item.overlap - counted.holding, 0) ELSE item.places END,
                state = CASE WHEN item.state IN ('open', 'held') AND counted.done >= item.overlap
                    THEN 'closed' ELSE item.state END,
                closed_at = CASE WHEN item.state IN ('open', 'held') AND counted.done >= item.overlap
                    THEN now() ELSE item.closed_at END
            FROM (
                SELECT item_id, count(*) FILTER (WHERE state <> 'submitted' OR counts) AS holding,
                    count(*) FILTER (WHERE state = 'submitted' AND counts) AS done
                FROM (
                    SELECT assignment.item_id, assignment.state, NOT EXISTS (
                        SELECT FROM review_score score
                        WHERE campaign.hides_verdict AND had.again = '' AND score.arm = 'model'
                          AND score.item_id = assignment.item_id AND score.reviewer_id = assignment.reviewer_id
                        GROUP BY score.stage HAVING NOT bool_or({IS_BLIND})
                    ) AS counts
                    FROM review_assignment assignment
                    JOIN review_item had ON had.id = assignment.item_id
                    JOIN review_campaign campaign ON campaign.id = had.campaign_id
                    WHERE assignment.item_id = ANY(%s) AND assignment.state IN ('active', 'waiting', 'submitted')
                ) AS work
                GROUP BY item_id
            ) AS counted
            WHERE item.id = counted.item_id
            """,
            [list(items)],
        )


_ASSIGNMENT = (
    *("id", "item_id", "reviewer_id", "state", "reason", "created_at", "ended_at", "pauses"),
    "why",
)
_SCORE = (
    *("item_id", "reviewer_id", "stage", "arm", "value", "draft_id", "feedback_id"),
    *("assignment_id", "current", "blind", "comment", "at", "timed", "undone_at"),
    *("visible", "view", "position"),
    *("sitting_minutes", "active_seconds", "rubric_id", "earlier_by"),
)
_NOT_RECORDED = ("{}", "plain", 0, None, None, None, "{}")
