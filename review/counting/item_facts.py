"""Reads the facts about items that the figures need: verdict, origin, scores and times, in a few queries.

Everything is read as plain values: a report may stand on a million scores, and objects take several times as long.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from pipeline.models import Run
from pipeline.types import DraftKind, Verdict
from review.counting.score_reader import (
    Work,
    add_up,
    fetch,
    passed_over,
    read_adjudicated,
    read_scores,
    read_work,
)
from review.models import Case, Item
from review.study import GivenScore, Judged
from review.study.first_draft import first_draft_of
from review.study.patterns import LENGTHS, class_of_length
from review.study.types import Origin, Recommended

_ORIGINS = {
    DraftKind.REPAIRED.value: Origin.REPAIRED.value,
    DraftKind.RETRIEVED.value: Origin.RETRIEVED.value,
}
# Where an imported run says that its script was retrieved elsewhere: from an entry that is not of this catalogue.
MADE = "made"
_NOT_ACTIVE = (Run.State.DONE.value, Run.State.FAILED.value, Run.State.CANCELLED.value)


class Situation(NamedTuple):
    """What the figures ask of an item besides its scores, in values that are quick to compare."""

    verdict: str
    is_real: bool
    is_sham: bool
    is_complete: bool
    origin: str
    has_refined: bool
    recommended: str
    execution: float | None
    execution_reason: str
    feedback_words: int | None
    is_demo: bool

    def judge(self, scores: Iterable[GivenScore], **more: Any) -> Judged:
        """The item with its scores, and whatever else was said about it."""
        return Judged(
            scores=tuple(scores),
            verdict=Verdict(self.verdict) if self.verdict else None,
            is_real=self.is_real,
            is_sham=self.is_sham,
            is_complete=self.is_complete,
            origin=Origin(self.origin),
            has_refined=self.has_refined,
            recommended=Recommended(self.recommended),
            execution=self.execution,
            execution_reason=self.execution_reason,
            feedback_words=self.feedback_words,
            is_demo=self.is_demo,
            **more,
        )


class ItemRow(NamedTuple):
    """One item as its table has it, with what its run says."""

    pk: int
    case: int
    configuration: int
    pattern: str
    disputed: bool
    purpose: str
    state: str
    sham: bool
    overlap: int
    done: int
    execution: float | None
    execution_reason: str
    run: int | None
    verdict: str | None
    run_state: str | None
    run_origin: str | None
    demo: bool | None
    recommended: int | None
    made: str


def judge_items(items: Sequence[Item]) -> dict[int, Judged]:
    """What each item brings to the figures, by its primary key."""
    keys = [item.pk for item in items]
    rows = read_rows(keys)
    return judge_rows(rows, read_situations(rows), read_work(keys))


def judge_rows(
    rows: Sequence[ItemRow], situations: dict[int, Situation], work: dict[int, list[Work]]
) -> dict[int, Judged]:
    """The same for what was read already."""
    keys = [row.pk for row in rows]
    scores, adjudicated = read_scores(keys), read_adjudicated(keys)
    return {
        row.pk: situations[row.pk].judge(
            [one.given for one in scores[row.pk]],
            adjudicated=adjudicated[row.pk],
            passed_over=passed_over(work[row.pk]),
            active_seconds=add_up(one.active_seconds for one in scores[row.pk]),
        )
        for row in rows
    }


# --- Items and what was made of them ------------------------------------------------------------------------------


def read_rows(keys: Collection[int]) -> list[ItemRow]:
    """The items by their keys, in the order of these."""
    query = """
        SELECT item.id, item.case_id, item.configuration_id, item.pattern, item.disputed, "case".purpose,
               item.state, item.sham, item.overlap, item.done, item.execution, item.execution_reason,
               item.run_id, run.verdict, run.state, run.origin, run.demo, run.recommended_id,
               coalesce(run.spec ->> 'made', '')
        FROM review_item item JOIN review_case "case" ON "case".id = item.case_id
        LEFT JOIN pipeline_run run ON run.id = item.run_id
        WHERE item.id = ANY(%s) ORDER BY item.id
    """
    return [ItemRow(*row) for row in fetch(query, keys)]


def read_situations(rows: Sequence[ItemRow]) -> dict[int, Situation]:
    """What the figures ask of each item besides its scores."""
    runs = [row.run for row in rows if row.run]
    drafts, feedbacks = read_drafts(runs), _feedback_by_draft(runs)
    return {row.pk: _situation(row, drafts[row.run or 0], feedbacks) for row in rows}


class DraftRow(NamedTuple):
    """A Draft without its text, which may be long and is not asked for here."""

    pk: int
    run: int
    kind: str
    refinement_id: int | None
    feedback_id: int | None


class _Feedback(NamedTuple):
    pk: int
    words: int
    no_error_found: bool


def _situation(row: ItemRow, drafts: list[DraftRow], feedbacks: dict[int, _Feedback]) -> Situation:
    first = first_draft_of(drafts)
    feedback = feedbacks.get(first.pk) if first else None
    refined = next((one for one in drafts if feedback and one.feedback_id == feedback.pk), None)
    explains = feedback is not None and not feedback.no_error_found
    return Situation(
        verdict=row.verdict or "",
        is_real=row.purpose == Case.Purpose.REAL.value and row.state != Item.State.WITHDRAWN.value,
        is_sham=row.sham,
        is_complete=row.overlap <= 1
        or row.state == Item.State.CLOSED.value
        or row.done >= row.overlap,
        origin=_ORIGINS.get(row.made or first.kind, Origin.MADE.value)
        if first
        else _origin_without(row),
        has_refined=refined is not None,
        recommended=_recommended(row.recommended, first, refined),
        execution=row.execution,
        execution_reason=row.execution_reason,
        feedback_words=_typical(feedback.words) if feedback and explains else None,
        is_demo=bool(row.demo),
    )


def _typical(words: int) -> int:
    """A length that stands for all of its class, so that items which count alike are alike."""
    return (*LENGTHS, LENGTHS[-1] + 1)[class_of_length(words)]


def _origin_without(row: ItemRow) -> str:
    """Of an item without a script: its run failed, is under way, or stands for labels without their texts."""
    is_over = row.run_state in _NOT_ACTIVE
    is_label = (row.run_origin, row.run_state) == (Run.Origin.IMPORTED.value, Run.State.DONE.value)
    return Origin.FAILED.value if is_over and not is_label else Origin.MADE.value


def _recommended(recommended: int | None, first: DraftRow | None, refined: DraftRow | None) -> str:
    if recommended is None:
        return Recommended.NONE.value
    if first and recommended == first.pk:
        return Recommended.FIRST.value
    is_refined = refined is not None and recommended == refined.pk
    return Recommended.REFINED.value if is_refined else Recommended.OTHER.value


def read_drafts(runs: Collection[int]) -> dict[int, list[DraftRow]]:
    """The Drafts of each run in order, without their texts."""
    found: dict[int, list[DraftRow]] = defaultdict(list)
    query = """
        SELECT id, run_id, kind, refinement_id, feedback_id FROM pipeline_draft
        WHERE run_id = ANY(%s) ORDER BY number
    """
    for row in fetch(query, runs):
        found[row[1]].append(DraftRow(*row))
    return found


def _feedback_by_draft(runs: Sequence[int]) -> dict[int, _Feedback]:
    query = """
        SELECT feedback.draft_id, feedback.id, feedback.words, feedback.no_error_found
        FROM pipeline_feedback feedback JOIN pipeline_draft draft ON draft.id = feedback.draft_id
        WHERE draft.run_id = ANY(%s) AND feedback.arm = 'model'
    """
    return {draft: _Feedback(*rest) for draft, *rest in fetch(query, runs)}
