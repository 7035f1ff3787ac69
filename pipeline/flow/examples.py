"""Choose the verified entries that the generator gets as examples."""

from __future__ import annotations

from catalog.types import Retrieval
from pipeline.types import Example

MOST = 3
LONGEST = 6_000  # total characters of all example statements and scripts


def choose_examples(retrieval: Retrieval) -> list[Example]:
    """Choose up to `MOST` examples, matches before neighbors. Examples that would exceed `LONGEST` are skipped.

    For a study run, the retrieval contains no entry that answers the statement (see `catalog.retrieval.examples`).
    """
    near = [(match.phrasing, match.script) for match in retrieval.matches]
    near += [(neighbour.phrasing, neighbour.script) for neighbour in retrieval.neighbours]
    chosen: list[Example] = []
    left = LONGEST
    for statement, script in near:
        length = len(statement) + len(script)
        if length <= left and len(chosen) < MOST:
            chosen.append(Example(statement, script))
            left -= length
    return chosen
