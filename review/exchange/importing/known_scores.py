"""What reviewers have said of some items already, so that the same said again is nothing new."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime

from pipeline.models import Draft
from review.exchange.rows.score_rows import GivenRow, RemarkRow
from review.exchange.rows.values import RowProblem
from review.models import Adjudication, Assignment, Flag, Remark, Score

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
    # Item, person and reason.
    flags: set[tuple[int, int, str]] = field(default_factory=set)

    def is_new(self, item: int, person: int, given: GivenRow) -> bool:
        """Whether it is said for the first time; noted as said then. Raises RowProblem where it contradicts."""
        if given.remark:
            return self._is_new_remark(item, person, given.remark, given.comment)
        if given.flag:
            flag = (item, person, given.comment)
            is_new = flag not in self.flags
            self.flags.add(flag)
            return is_new
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


def read_standing(items: Collection[int], *, with_words: bool = False) -> Standing:
    """What was said of these items; of comments on lines and flags only where that is asked."""
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
    if with_words:
        _read_words(items, standing)
    return standing


def _read_assignments(items: Collection[int], standing: Standing) -> None:
    rows = Assignment.objects.filter(item__in=items).order_by()
    for key, item, reviewer, state in rows.values_list("pk", "item", "reviewer", "state"):
        if state in _PASSED_OVER:
            standing.passed_over.add((item, reviewer, state))
        elif state in Assignment.HOLDING:
            is_through = state == Assignment.State.SUBMITTED
            standing.submitted[item, reviewer] = key if is_through else None


def _read_words(items: Collection[int], standing: Standing) -> None:
    drafts = Draft.objects.filter(run__items__in=items).order_by("-number")
    for key, sha256, item in drafts.values_list("pk", "sha256", "run__items"):
        standing.drafts[item, sha256] = key
    flags = Flag.objects.filter(item__in=items).order_by()
    standing.flags.update(flags.values_list("item", "by", "reason"))
    remarks = Remark.objects.filter(item__in=items).order_by()
    standing.remarks.update(remarks.values_list("item", "by", "draft", "line", "text"))
