"""What says something else is never the answer, and what says the same is at least a starting point.

The statements are about all kinds of work, were made up, and are in nobody's data.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from catalog.relevance import Candidate, judge, shipped_model
from catalog.types import Answer

CASES = Path(__file__).resolve().parents[2] / "cases" / "statements.json"
NEAR = 0.98  # as near as statements of another meaning come
LIKE = 0.9  # as near as another wording of the same usually is
LOW = 0.5  # a threshold at which it is the rules that decide


class Case(NamedTuple):
    entry: Candidate
    statement: str


def read_cases(kind: str) -> list[Case]:
    """Each entry with each of its statements of one kind: `other` or `same`."""
    return [
        Case(Candidate(phrasing=row["entry"], script=row["script"], cosine=0.0), statement)
        for row in json.loads(CASES.read_text())
        for statement in row[kind]
    ]


@pytest.mark.parametrize("case", read_cases("other"), ids=lambda case: case.statement)
def test_another_statement_is_no_match_however_near_it_lies(case: Case) -> None:
    judged = judge(case.statement, replace(case.entry, cosine=NEAR))

    assert judged.answer is not Answer.MATCH


@pytest.mark.parametrize("case", read_cases("same"), ids=lambda case: case.statement)
def test_another_wording_is_at_least_a_starting_point(case: Case) -> None:
    judged = judge(case.statement, replace(case.entry, cosine=LIKE))

    assert judged.answer is not Answer.NONE


def test_the_rules_let_most_other_wordings_match() -> None:
    model = replace(shipped_model(), match_threshold=LOW)
    cases = read_cases("same")

    answers = [
        judge(case.statement, replace(case.entry, cosine=LIKE), model).answer for case in cases
    ]

    assert answers.count(Answer.MATCH) >= 0.6 * len(cases) > 40


@pytest.mark.parametrize("row", json.loads(CASES.read_text()), ids=lambda row: row["entry"])
def test_the_entry_itself_always_matches(row: dict[str, str]) -> None:
    entry = Candidate(phrasing=row["entry"], script=row["script"], cosine=1.0)

    assert judge(f" {row['entry']}.", entry).answer is Answer.MATCH
