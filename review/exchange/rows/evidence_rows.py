"""Parse a row of sandbox evidence in an export: a case set, a result, a change to test cases, or a label."""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import NamedTuple

from catalog.execution.cases import CaseRefused, CaseSet, State, read_case_set
from catalog.execution.quality.stored import NoDocument, read_document
from review.exchange.rows.item_rows import MOST_CONFIGURATION, MOST_ID, MOST_PERSON
from review.exchange.rows.values import (
    RowProblem,
    amount_of,
    choice_of,
    count_of,
    flag_of,
    moment_of,
    name_of,
    objects_of,
    parts_of,
    text_of,
)
from review.study.execution import LABELS

KINDS = ("case_set", "execution", "case_revision", "execution_label")
_STATES = tuple(state.value for state in State)
_CHANGES = ("struck", "corrected", "added")
_STAGES = ("script", "refined")
_HASH = re.compile(r"[0-9a-f]{64}")
_MOST_TEXT = 1_000_000
_MOST_CHECKS = 600
_MOST_COUNT = 2**31 - 1


class CaseSetRow(NamedTuple):
    case_set: CaseSet
    is_revision: bool
    prompt_version: str


class CheckRow(NamedTuple):
    case: int
    number: int
    title: str
    sentence: str
    state: str
    got: str


class ExecutionRow(NamedTuple):
    case_set: str
    script_sha256: str
    fingerprint: dict[str, str]
    fingerprint_sha256: str
    state: str
    why_not_run: str
    checks: tuple[CheckRow, ...]
    small_errors: int | None
    noticed: int | None
    document: dict[str, object]
    seconds: float
    first_at: datetime
    last_at: datetime
    times: int


class RevisionRow(NamedTuple):
    item: str
    configuration: str
    person: str
    kind: str
    what: str
    reason: str
    root: str
    former: str
    case_set: str  # empty if no test cases were left
    merged: str  # the set that counts after the change; empty if no test cases were left
    at: datetime


class LabelRow(NamedTuple):
    item: str
    configuration: str
    person: str
    stage: str
    reason: str  # empty if the reviewer removed the label
    at: datetime
    current: bool


Evidence = CaseSetRow | ExecutionRow | RevisionRow | LabelRow


def read_evidence(values: dict[str, object], kind: str) -> Evidence:
    """Return the parsed row. Raises RowProblem."""
    if kind == "case_set":
        return _read_case_set(values)
    if kind == "execution":
        return _read_execution(values)
    return _read_revision(values) if kind == "case_revision" else _read_label(values)


def _read_case_set(values: dict[str, object]) -> CaseSetRow:
    try:
        case_set = read_case_set(json.dumps(parts_of(values, "content")), is_kept=True)
    except CaseRefused as error:
        raise RowProblem(str(error)[:500], column="content") from error
    if case_set.sha256 != _hash(values, "case_set"):
        raise RowProblem("is not the hash of these tests", column="case_set")
    return CaseSetRow(
        case_set,
        flag_of(values, "is_revision", default=False),
        name_of(values, "prompt_version", most=12),
    )


def _read_execution(values: dict[str, object]) -> ExecutionRow:
    checks = objects_of(values, "checks", most=_MOST_CHECKS)
    if not checks:
        raise RowProblem("no results found", column="checks")
    last_at = _moment(values, "last_at")
    state = _choice(values, "state", _STATES)
    why = text_of(values, "why_not_run", most=_MOST_TEXT)
    read = tuple(_read_check(one) for one in checks)
    not_run = next((one for one in read if one.state == State.NOT_RUN.value), None)
    if not_run is not None:
        # An earlier release stored a state other than `not_run` for tests that were only partly run.
        state, why = State.NOT_RUN.value, why or not_run.got
    if state == State.NOT_RUN.value and not why:
        raise RowProblem("must give the reason why nothing ran", column="why_not_run")
    return ExecutionRow(
        case_set=_hash(values, "case_set"),
        script_sha256=_hash(values, "script_sha256"),
        fingerprint=_read_fingerprint(values),
        fingerprint_sha256=name_of(values, "fingerprint_sha256", most=64),
        state=state,
        why_not_run=why,
        checks=read,
        small_errors=count_of(values, "small_errors", least=0, most=_MOST_COUNT),
        noticed=count_of(values, "noticed", least=0, most=_MOST_COUNT),
        document=_read_document(values),
        seconds=amount_of(values, "seconds", most=_MOST_TEXT) or 0.0,
        first_at=moment_of(values, "first_at") or last_at,
        last_at=last_at,
        times=count_of(values, "times", least=1, most=_MOST_COUNT) or 1,
    )


def _read_document(values: dict[str, object]) -> dict[str, object]:
    try:
        return read_document(parts_of(values, "document"))
    except NoDocument as error:
        raise RowProblem(str(error)[:500], column="document") from error


def _read_fingerprint(values: dict[str, object]) -> dict[str, str]:
    found = parts_of(values, "fingerprint")
    if len(found) > 100:
        raise RowProblem("has more than 100 names", column="fingerprint")
    return {name: text_of(found, name, most=1_000) for name in found}


def _read_check(value: dict[str, object]) -> CheckRow:
    case = count_of(value, "case", least=1, most=50)
    number = count_of(value, "check", least=1, most=50)
    if case is None or number is None:
        raise RowProblem("contains a result without case or check", column="checks")
    return CheckRow(
        case,
        number,
        text_of(value, "title", most=4_000),
        text_of(value, "sentence", most=_MOST_TEXT),
        _choice(value, "state", _STATES),
        text_of(value, "got", most=_MOST_TEXT),
    )


def _read_revision(values: dict[str, object]) -> RevisionRow:
    return RevisionRow(
        **_whose(values),
        kind=_choice(values, "kind", _CHANGES),
        what=text_of(values, "what", most=_MOST_TEXT),
        reason=text_of(values, "comment", most=_MOST_TEXT),
        root=_hash(values, "root"),
        former=_hash(values, "former"),
        case_set=_hash(values, "case_set") if values.get("case_set") else "",
        merged=_hash(values, "merged") if values.get("merged") else "",
        at=_moment(values, "at"),
    )


def _read_label(values: dict[str, object]) -> LabelRow:
    return LabelRow(
        **_whose(values),
        stage=_choice(values, "stage", _STAGES),
        reason=choice_of(values, "label", LABELS),
        at=_moment(values, "at"),
        current=flag_of(values, "current", default=True),
    )


def _whose(values: dict[str, object]) -> dict[str, str]:
    item = name_of(values, "item", most=MOST_ID)
    person = name_of(values, "reviewer", most=MOST_PERSON)
    if not item:
        raise RowProblem("no item found", column="item")
    if not person:
        raise RowProblem("no reviewer found", column="reviewer")
    configuration = name_of(values, "configuration", most=MOST_CONFIGURATION)
    return {"item": item, "configuration": configuration, "person": person}


def _hash(values: dict[str, object], column: str) -> str:
    found = name_of(values, column, most=64)
    if not _HASH.fullmatch(found):
        raise RowProblem("is not a SHA-256 hash", column=column)
    return found


def _choice(values: dict[str, object], column: str, among: tuple[str, ...]) -> str:
    found = choice_of(values, column, among)
    if not found:
        raise RowProblem(f"is not one of {', '.join(among)}", column=column)
    return found


def _moment(values: dict[str, object], column: str) -> datetime:
    found = moment_of(values, column)
    if found is None:
        raise RowProblem("no time found", column=column)
    return found
