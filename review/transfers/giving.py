"""Scores of one slice on their way into the tables, and what these items' reviewers have given already."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from django.db import connection
from django.utils import timezone

from pipeline.models import Draft
from pipeline.types import Arm
from review.models import Adjudication, Assignment, Campaign, Remark, Score
from review.tallies import note_due
from review.transfers.copying import Table, next_keys
from review.transfers.score_rows import GivenRow, RemarkRow
from review.transfers.seen import Seen, SeenBy, read_seen
from review.transfers.values import RowProblem

Place = tuple[int, int, str, str]  # item, reviewer, stage, arm; of an adjudication without reviewer
_PASSED_OVER = (Assignment.State.SKIPPED, Assignment.State.CANNOT_JUDGE)


@dataclass
class Standing:
    """What was said of some items so far, the rows of this slice among it as they are taken."""

    scores: dict[Place, int] = field(default_factory=dict)
    earlier: set[tuple[Place, int, datetime]] = field(default_factory=set)
    adjudicated: dict[Place, int] = field(default_factory=dict)
    # Item and reviewer to the assignment that is through, or to None where they are at work.
    submitted: dict[tuple[int, int], int | None] = field(default_factory=dict)
    passed_over: set[tuple[int, int, str]] = field(default_factory=set)
    # Item and a script's hash to the Draft; comments by item, person, Draft, line and text.
    drafts: dict[tuple[int, str], int] = field(default_factory=dict)
    remarks: set[tuple[int, int, int, int, str]] = field(default_factory=set)

    def is_new(self, item: int, person: int, given: GivenRow) -> bool:
        """Whether it is said for the first time; noted as said then. Raises RowProblem where it contradicts."""
        if given.remark:
            return self._is_new_remark(item, person, given.remark, given.comment)
        if given.passed_over:
            said = (item, person, given.passed_over)
            is_new = said not in self.passed_over
            self.passed_over.add(said)
            return is_new
        if given.adjudicates:
            return self._is_new_in(self.adjudicated, (item, 0, given.stage, given.arm), given)
        if self.submitted.get((item, person), 0) is None:
            raise RowProblem("this reviewer is at work on the item now", column="reviewer")
        return self._is_new_in(self.scores, (item, person, given.stage, given.arm), given)

    def _is_new_remark(self, item: int, person: int, remark: RemarkRow, text: str) -> bool:
        draft = self.drafts.get((item, remark.draft_sha256))
        if draft is None:
            raise RowProblem("the item has no script with this hash", column="draft_sha256")
        if not text:
            raise RowProblem("there is no comment", column="comment")
        said = (item, person, draft, remark.line, text)
        is_new = said not in self.remarks
        self.remarks.add(said)
        return is_new

    def _is_new_in(self, there: dict[Place, int], place: Place, given: GivenRow) -> bool:
        if not given.current:
            if given.at is None:
                raise RowProblem("an earlier score needs its time", column="at")
            said = (place, given.value, given.at)
            is_new = said not in self.earlier
            self.earlier.add(said)
            return is_new
        if place in there and there[place] != given.value:
            raise RowProblem(
                f"{given.stage} has the score {there[place]} from this reviewer already"
                if place[1]
                else f"{given.stage} has been settled as {there[place]} already",
                column=given.stage,
            )
        is_new = place not in there
        there[place] = given.value
        return is_new


def read_standing(items: Collection[int], *, with_remarks: bool = False) -> Standing:
    """What was said of these items; of comments on lines only where that is asked."""
    standing = Standing()
    scores = Score.objects.filter(item__in=items).order_by()
    for item, reviewer, stage, arm, value, current, at in scores.values_list(
        "item", "reviewer", "stage", "arm", "value", "current", "at"
    ):
        key = (item, reviewer, stage, arm)
        if current:
            standing.scores[key] = value
        else:
            standing.earlier.add((key, value, at))
    words = Adjudication.objects.filter(item__in=items).order_by()
    for item, stage, arm, value, current, at in words.values_list(
        "item", "stage", "arm", "value", "current", "at"
    ):
        key = (item, 0, stage, arm)
        if current:
            standing.adjudicated[key] = value
        else:
            standing.earlier.add((key, value, at))
    _read_assignments(items, standing)
    if with_remarks:
        _read_remarks(items, standing)
    return standing


def _read_assignments(items: Collection[int], standing: Standing) -> None:
    rows = Assignment.objects.filter(item__in=items).order_by()
    for key, item, reviewer, state in rows.values_list("pk", "item", "reviewer", "state"):
        if state in _PASSED_OVER:
            standing.passed_over.add((item, reviewer, state))
        elif state in Assignment.HOLDING:
            is_through = state == Assignment.State.SUBMITTED
            standing.submitted[item, reviewer] = key if is_through else None


def _read_remarks(items: Collection[int], standing: Standing) -> None:
    drafts = Draft.objects.filter(run__items__in=items).order_by("-number")
    for key, sha256, item in drafts.values_list("pk", "sha256", "run__items"):
        standing.drafts[item, sha256] = key
    remarks = Remark.objects.filter(item__in=items).order_by()
    standing.remarks.update(remarks.values_list("item", "by", "draft", "line", "text"))


class ScoreStore:
    """Gathers what is said in a slice, and writes it at once."""

    def __init__(self, campaign: Campaign, standing: Standing, *, size: int) -> None:
        self._campaign, self._standing, self._size = campaign, standing, size
        self._given: list[tuple[int, int, GivenRow]] = []

    def add(self, item: int, person: int, given: GivenRow) -> None:
        """Note something to be written."""
        self._given.append((item, person, given))

    def write(self) -> None:
        """Write all that was noted, and count it with its items."""
        if not self._given:
            return
        items = {item for item, _person, _given in self._given}
        self._write_assignments()
        self._write_scores(read_seen(items))
        self._write_adjudications()
        self._write_remarks()
        _count_done(items)
        note_due(self._campaign, sorted(items))

    def _write_assignments(self) -> None:
        now, rows = timezone.now(), []
        keys = iter(next_keys(Assignment, len(self._given)))
        submitted = self._standing.submitted
        for item, person, given in self._given:
            if given.passed_over:
                state = given.passed_over
            elif given.adjudicates or given.remark or (item, person) in submitted:
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
                    at,
                    given.comment if given.passed_over else "",
                )
            )
            if not given.passed_over:
                submitted[item, person] = key
        columns = ("id", "item_id", "reviewer_id", "state", "reason", "ended_at", "why")
        Table(Assignment, columns).copy(rows)

    def _write_scores(self, seen: Mapping[SeenBy, dict[str, Seen]]) -> None:
        now, rows = timezone.now(), []
        for item, person, given in self._given:
            if given.passed_over or given.adjudicates or given.remark:
                continue
            made_by = given.feedback_by if given.arm == Arm.EXPERT else ""
            texts = seen.get((item, given.arm, made_by), {})
            rows.append(
                (
                    *(item, person, given.stage, given.arm, given.value),
                    *texts.get(given.stage, (None, None)),
                    self._standing.submitted[item, person],
                    *(given.current, given.blind, given.comment, given.at or now),
                    {"copied_from": "import"} if given.copied else {},
                )
            )
        Table(Score, _SCORE, without_key=True, imported=True).copy(rows)

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

    def _write_remarks(self) -> None:
        now, drafts = timezone.now(), self._standing.drafts
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


def _count_done(items: Collection[int]) -> None:
    """Done are the reviewers who are through; with as many as are asked, the item is closed."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE review_item AS item
            SET done = counted.done,
                places = CASE WHEN item.state IN ('open', 'held')
                    THEN greatest(item.overlap - counted.holding, 0) ELSE item.places END,
                state = CASE WHEN item.state IN ('open', 'held') AND counted.done >= item.overlap
                    THEN 'closed' ELSE item.state END,
                closed_at = CASE WHEN item.state IN ('open', 'held') AND counted.done >= item.overlap
                    THEN now() ELSE item.closed_at END
            FROM (
                SELECT item_id, count(*) AS holding,
                    count(*) FILTER (WHERE state = 'submitted') AS done
                FROM review_assignment
                WHERE item_id = ANY(%s) AND state IN ('active', 'waiting', 'submitted')
                GROUP BY item_id
            ) AS counted
            WHERE item.id = counted.item_id
            """,
            [list(items)],
        )


_SCORE = (
    *("item_id", "reviewer_id", "stage", "arm", "value", "draft_id", "feedback_id"),
    *("assignment_id", "current", "blind", "comment", "at", "visible"),
)
