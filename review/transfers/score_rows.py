"""One row of scores: who gave what about which item. Empty is *not asked*, and never 0."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from pipeline.types import Arm
from review.transfers.columns import STAGES, Columns
from review.transfers.item_rows import MOST_CONFIGURATION, MOST_ID, MOST_PERSON
from review.transfers.values import (
    RowProblem,
    choice_of,
    count_of,
    flag_of,
    moment_of,
    name_of,
    score_of,
    text_of,
)

MOST_COMMENT = 10_000
_ARMS = tuple(arm.value for arm in Arm)
_REASONS = ("queue", "named", "tie_break", "take_over", "imported")
_PASSED_OVER = ("skipped", "cannot_judge")


class RemarkRow(NamedTuple):
    """Where a comment on a line stands, and when it was taken back; the script is told by its hash."""

    draft_sha256: str
    line: int
    removed_at: datetime | None


class GivenRow(NamedTuple):
    """One score, adjudication, skip or comment on a line."""

    line: int
    item: str
    configuration: str
    person: str
    # Empty where the person passed the item over.
    stage: str
    arm: str
    value: int
    adjudicates: bool = False
    comment: str = ""
    at: datetime | None = None
    blind: bool = True
    current: bool = True
    copied: bool = False
    reason: str = "imported"
    passed_over: str = ""
    # Of an expert's refinement: whose feedback it was made from.
    feedback_by: str = ""
    remark: RemarkRow | None = None


def read_scores(
    values: dict[str, object],
    *,
    line: int,
    columns: Columns,
    adjudicates: bool = False,
    remarks: bool = False,
) -> list[GivenRow]:
    """What a row says, judged strictly: one entry for each value. Raises RowProblem; then none of it counts."""
    item = name_of(values, "item", most=MOST_ID)
    if not item:
        raise RowProblem("there is no item", column="item")
    common = GivenRow(
        line=line,
        item=item,
        configuration=name_of(values, "configuration", most=MOST_CONFIGURATION),
        person="",
        stage="",
        arm=choice_of(values, "arm", _ARMS) or Arm.MODEL.value,
        value=0,
        adjudicates=adjudicates,
        comment=text_of(values, "comment", most=MOST_COMMENT).strip(),
        at=moment_of(values, "at"),
        blind=flag_of(values, "blind", default=True),
        current=flag_of(values, "current", default=True),
        copied=flag_of(values, "copied", default=False),
        reason=choice_of(values, "reason", _REASONS) or "imported",
        feedback_by=name_of(values, "feedback_by", most=MOST_PERSON),
    )
    passed_over = choice_of(values, "passed_over", _PASSED_OVER)
    if passed_over:
        return [common._replace(person=_person(values), passed_over=passed_over)]
    if remarks:
        remark = _read_remark(values)
        return [common._replace(person=_person(values), remark=remark)]
    # Beside a column for each reviewer, one named `script` is the text that they judged.
    found = list(_wide(values, common, columns) if columns.wide else _long(values, common))
    if any(one.stage == "script" and one.arm == Arm.EXPERT for one in found):
        raise RowProblem("the first script is scored in the arm “model” only", column="arm")
    return found


def _long(values: dict[str, object], common: GivenRow) -> Iterator[GivenRow]:
    """A row of one reviewer: a column for each stage, or the stage and its value."""
    stages = {stage: score_of(values, stage) for stage in STAGES}
    stage = choice_of(values, "stage", STAGES)
    if stage:
        stages[stage] = score_of(values, "value")
    given = {stage: value for stage, value in stages.items() if value is not None}
    if not given:
        return
    person = _person(values)
    for name, value in given.items():
        yield common._replace(person=person, stage=name, value=value)


def _wide(values: dict[str, object], common: GivenRow, columns: Columns) -> Iterator[GivenRow]:
    """A row of several reviewers: a column for each."""
    for column in columns.wide:
        value = score_of(values, column.name)
        if value is not None:
            yield common._replace(
                person=column.person,
                stage=column.stage,
                value=value,
                adjudicates=column.adjudicates,
            )


def _read_remark(values: dict[str, object]) -> RemarkRow:
    sha256 = name_of(values, "draft_sha256", most=64)
    line = count_of(values, "line", least=1, most=1_000_000)
    if not (sha256 and line):
        raise RowProblem("a comment needs a script and a line", column="line")
    return RemarkRow(sha256, line, moment_of(values, "removed_at"))


def _person(values: dict[str, object]) -> str:
    person = name_of(values, "reviewer", most=MOST_PERSON)
    if not person:
        raise RowProblem("there is no reviewer", column="reviewer")
    return person
