"""Tests that the rules match no wrong literal in public pairs of statements and scripts, and always return the same
result.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from catalog.relevance import Candidate, Kind, find_literals, judge
from catalog.relevance.statement.scripts import analyse_script
from catalog.types import Answer

PAIRS = Path(__file__).resolve().parents[4] / "shared" / "data" / "nl2bash_pairs_half.jsonl"
EVERY = 8  # use only some pairs, so that the tests take less than a second

pytestmark = pytest.mark.skipif(not PAIRS.is_file(), reason=f"{PAIRS.name} is not there")


class Swap(NamedTuple):
    """A statement with one literal replaced by another of the same kind."""

    statement: str
    candidate: Candidate


@pytest.fixture(scope="module")
def candidates() -> list[Candidate]:
    """Return a sample of the pairs as entries without parameters."""
    with PAIRS.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines][::EVERY]
    return [Candidate(phrasing=row["statement"], script=row["script"], cosine=1.0) for row in rows]


@pytest.mark.slow
def test_the_same_statement_always_matches(candidates: list[Candidate]) -> None:
    answers = [judge(candidate.phrasing, candidate).answer for candidate in candidates]
    assert answers.count(Answer.MATCH) == len(answers) > 500


@pytest.mark.slow
def test_another_literal_never_matches(candidates: list[Candidate]) -> None:
    swaps = list(swap_literals(candidates))
    wrong = [swap for swap in swaps if judge(*swap).answer == Answer.MATCH]
    assert len(swaps) > 300
    assert [swap.statement for swap in wrong] == []


def swap_literals(candidates: list[Candidate]) -> Iterator[Swap]:
    """Yield a swap for each literal that a statement shares with its script."""
    known: dict[Kind, list[str]] = defaultdict(list)
    for candidate in candidates:
        for literal in find_literals(candidate.phrasing):
            if literal.firm:
                known[literal.kind].append(literal.text)
    dice = random.Random(7)
    for candidate in candidates:
        text, script = candidate.phrasing, analyse_script(candidate.script)
        for literal in find_literals(text):
            other = dice.choice(known[literal.kind] or [""])
            read = find_literals(other)
            is_other = read and read[0].key != literal.key and not script.explains(read[0])
            if literal.firm and script.explains(literal) and is_other:
                yield Swap(text[: literal.start] + other + text[literal.end :], candidate)
