"""Parse a row of scores: reviewer, item and value. An empty value means that the stage was not scored, never 0."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from pipeline.types import Arm
from review.exchange.rows.columns import STAGES, Columns
from review.exchange.rows.item_rows import (
    MOST_CONFIGURATION,
    MOST_CONTEXT,
    MOST_ID,
    MOST_PERSON,
    MOST_STATEMENT,
    id_of,
)
from review.exchange.rows.values import (
    RowProblem,
    amount_of,
    choice_of,
    count_of,
    flag_of,
    key_of,
    lack_of,
    moment_of,
    name_of,
    parts_of,
    score_of,
    text_of,
)
from review.exchange.source import OWN

MOST_COMMENT = 10_000
_ARMS = tuple(arm.value for arm in Arm)
_TIE_BREAK = "tie_break"
_REASONS = ("queue", "named", "tie_break", "take_over", "imported")
_PASSED_OVER = ("skipped", "cannot_judge")
_VIEWS = ("plain", "diff")
MOST_SECONDS = 10_000_000
MOST_ROUNDS = 100


class RemarkRow(NamedTuple):
    """A comment's script (by hash), line, and time of removal."""

    draft_sha256: str
    line: int
    removed_at: datetime | None


class FlagRow(NamedTuple):
    """A manager's answer to a flag on an item."""

    answer: str
    answered_by: str
    answered_at: datetime | None


class Recorded(NamedTuple):
    """The data that is recorded with a score to assess threats to validity. It contains usernames."""

    visible: dict[str, bool]
    view: str
    position: int
    sitting_minutes: float | None
    active_seconds: float | None
    # The number of the rubric version.
    rubric: int | None
    earlier_by: dict[str, str]
    # The times when the item was assigned and submitted.
    assigned_at: datetime | None = None
    submitted_at: datetime | None = None
    pauses: int = 0


NOTHING = Recorded({}, "plain", 0, None, None, None, {})


class GivenRow(NamedTuple):
    """A score, adjudication, skip, flag or line comment."""

    line: int
    item: str
    configuration: str
    person: str
    # Empty for a skipped item.
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
    # `feedback_by` is the author of the feedback in the experts' arm, and `round` the round in the model's arm.
    feedback_by: str = ""
    round: int = 1
    undone_at: datetime | None = None
    remark: RemarkRow | None = None
    flag: FlagRow | None = None
    recorded: Recorded = NOTHING

    @property
    def text(self) -> str:
        """Return the expert or the later round that a refined script comes from, or "" for other texts."""
        if self.stage != "refined":
            return ""
        if self.arm == Arm.EXPERT:
            return self.feedback_by
        return str(self.round) if self.round > 1 else ""

    @property
    def is_score(self) -> bool:
        """Return whether the entry is a reviewer's score."""
        return not (self.passed_over or self.adjudicates or self.remark or self.flag)

    @property
    def names(self) -> set[str]:
        """Return the names of all users in the row."""
        names = {self.person, *self.recorded.earlier_by.values()}
        return names | {self.flag.answered_by} - {""} if self.flag else names


def read_scores(
    values: dict[str, object],
    *,
    line: int,
    columns: Columns,
    kind: str = "score",
) -> list[GivenRow]:
    """Return a row's entries, one per value, after strict validation. Raises RowProblem if any value is invalid."""
    item = key_of(values, "item", most=MOST_ID) or _id_by_content(values)
    if not item:
        raise lack_of(values, "item")
    common = GivenRow(
        line=line,
        item=item,
        configuration=name_of(values, "configuration", most=MOST_CONFIGURATION),
        person="",
        stage="",
        arm=choice_of(values, "arm", _ARMS) or Arm.MODEL.value,
        value=0,
        adjudicates=kind == "adjudication",
        comment=text_of(values, "comment", most=MOST_COMMENT).strip(),
        at=moment_of(values, "at"),
        blind=flag_of(values, "blind", default=True),
        current=flag_of(values, "current", default=True),
        copied=flag_of(values, "copied", default=False),
        reason=choice_of(values, "reason", _REASONS) or "imported",
        feedback_by=name_of(values, "feedback_by", most=MOST_PERSON),
        round=count_of(values, "round", least=0, most=MOST_ROUNDS) or 1,
        undone_at=moment_of(values, "undone_at"),
        recorded=_read_recorded(values),
    )
    passed_over = choice_of(values, "passed_over", _PASSED_OVER)
    if passed_over:
        return [common._replace(person=_person(values), passed_over=passed_over)]
    if kind == "remark":
        return [common._replace(person=_person(values), remark=_read_remark(values))]
    if kind == "flag":
        return [common._replace(person=_person(values), flag=_read_flag(values, common.comment))]
    # In a file with a column per reviewer, a column named `script` contains the scored text, not a score.
    found = list(_wide(values, common, columns) if columns.wide else _long(values, common))
    if any(one.stage == "script" and one.arm == Arm.EXPERT for one in found):
        raise RowProblem("the first script can only be scored in the arm “model”", column="arm")
    return found


def _id_by_content(values: dict[str, object]) -> str:
    """Return an ID that is derived from the row's statement, or an empty string if the row has no statement."""
    statement = text_of(values, "statement", most=MOST_STATEMENT).strip()
    return id_of(statement, text_of(values, "reference", most=MOST_CONTEXT)) if statement else ""


def _long(values: dict[str, object], common: GivenRow) -> Iterator[GivenRow]:
    """Yield the entries of one reviewer's row, with either a column for each stage or a stage and a value."""
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
    """Yield the entries of a row with a column for each reviewer."""
    for column in columns.wide:
        value = score_of(values, column.name)
        if value is not None:
            yield common._replace(
                person=column.person,
                stage=column.stage,
                value=value,
                adjudicates=column.adjudicates,
                reason=_TIE_BREAK if column.was_called_in else common.reason,
            )


def _read_remark(values: dict[str, object]) -> RemarkRow:
    sha256 = name_of(values, "draft_sha256", most=64)
    line = count_of(values, "line", least=1, most=1_000_000)
    if not (sha256 and line):
        raise RowProblem("a comment needs a script and a line", column="line")
    return RemarkRow(sha256, line, moment_of(values, "removed_at"))


def _read_flag(values: dict[str, object], reason: str) -> FlagRow:
    if not reason:
        raise RowProblem("no reason found", column="comment")
    return FlagRow(
        text_of(values, "answer", most=MOST_COMMENT),
        name_of(values, "answered_by", most=MOST_PERSON),
        moment_of(values, "answered_at"),
    )


def _read_recorded(values: dict[str, object]) -> Recorded:
    """Return the recorded data of a score. For files that are not our exports, only `active_seconds` is read."""
    seconds = amount_of(values, "active_seconds", most=MOST_SECONDS)
    if not values.get(OWN):
        return NOTHING if seconds is None else NOTHING._replace(active_seconds=seconds)
    visible = parts_of(values, "visible")
    earlier = parts_of(values, "earlier_by")
    return Recorded(
        visible={name: seen for name, seen in visible.items() if isinstance(seen, bool)},
        view=choice_of(values, "view", _VIEWS) or "plain",
        position=count_of(values, "position", least=0, most=2**31 - 1) or 0,
        sitting_minutes=amount_of(values, "sitting_minutes", most=MOST_SECONDS),
        active_seconds=seconds,
        rubric=count_of(values, "rubric", least=1, most=2**31 - 1),
        earlier_by={
            stage: name for stage in STAGES if (name := name_of(earlier, stage, most=MOST_PERSON))
        },
        assigned_at=moment_of(values, "assigned_at"),
        submitted_at=moment_of(values, "submitted_at"),
        pauses=count_of(values, "pauses", least=0, most=2**31 - 1) or 0,
    )


def _person(values: dict[str, object]) -> str:
    person = key_of(values, "reviewer", most=MOST_PERSON)
    if not person:
        raise lack_of(values, "reviewer")
    return person
