"""Tests that statements with a different meaning never match, and that paraphrases are at least starting points."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from catalog.relevance import Candidate, judge, shipped_model
from catalog.types import Answer

ROWS = json.loads((Path(__file__).resolve().parents[2] / "cases" / "statements.json").read_text())
NEAR = 0.98  # the highest cosine of statements with a different meaning
LIKE = 0.9  # the usual cosine of paraphrases
LOW = 0.5  # a threshold low enough that only the rules decide


def entry(row: dict[str, str], cosine: float) -> Candidate:
    return Candidate(phrasing=row["entry"], script=row["script"], cosine=cosine)


def answers(
    kind: str, cosine: float, threshold: float | None = None
) -> Iterator[tuple[str, Answer]]:
    """Yield each entry's statements of one kind (`other` or `same`) with their judgments."""
    shipped = shipped_model()
    model = replace(shipped, match_threshold=threshold or shipped.match_threshold)
    for row in ROWS:
        for statement in row[kind]:
            yield statement, judge(statement, entry(row, cosine), model).answer


def test_only_the_same_statement_matches() -> None:
    assert [text for text, answer in answers("other", NEAR) if answer is Answer.MATCH] == []
    found = {row["entry"]: judge(f" {row['entry']}.", entry(row, 1.0)).answer for row in ROWS}
    assert [text for text, answer in found.items() if answer is not Answer.MATCH] == []


def test_other_wordings_mostly_match() -> None:
    assert [text for text, answer in answers("same", LIKE) if answer is Answer.NONE] == []
    found = [answer for _text, answer in answers("same", LIKE, LOW)]
    assert found.count(Answer.MATCH) >= 0.6 * len(found) > 40
