"""The golden case: the paper's study, rebuilt from its percentages to match both criteria at once.

Each row has a verdict, the scores of script, feedback and refined script (None if not shown), and the number of items.
Under *strict*, 55 items are right and passed, 10 right and flagged, and 88 wrong. Under *partial*, 107 are right.
"""

from __future__ import annotations

from collections import Counter

from pipeline.types import Verdict
from review.study import GivenScore, ItemPattern, Judged, Stage, pattern_of

PASSED, FLAGGED = Verdict.CORRECT, Verdict.INCORRECT

ROWS: tuple[tuple[Verdict, int, int | None, int | None, int], ...] = (
    (PASSED, 2, None, None, 55),
    # Right and flagged: refinement breaks 3 of 10 items.
    (FLAGGED, 2, None, 2, 7),
    (FLAGGED, 2, None, 0, 3),
    # Partly right and flagged: 17 items.
    (FLAGGED, 1, 2, 2, 8),
    (FLAGGED, 1, 2, 1, 9),
    # Wrong and flagged: 21 items, of which 10 become right and 3 partly right.
    (FLAGGED, 0, 2, 2, 8),
    (FLAGGED, 0, 0, 2, 2),
    (FLAGGED, 0, 2, 1, 2),
    (FLAGGED, 0, 0, 1, 1),
    (FLAGGED, 0, 1, 0, 3),
    (FLAGGED, 0, 2, 0, 2),
    (FLAGGED, 0, 0, 0, 3),
    # Partly right and passed: 25 items, of which 23 become right.
    (PASSED, 1, 2, 2, 23),
    (PASSED, 1, 2, 1, 1),
    (PASSED, 1, 0, 1, 1),
    # Wrong and passed: 25 items, of which 10 become right.
    (PASSED, 0, 2, 2, 8),
    (PASSED, 0, 0, 2, 2),
    (PASSED, 0, 0, 0, 15),
)


def golden_items(reviewer: int = 1) -> list[Judged]:
    """Return 153 items, scored by one reviewer."""
    items = []
    for verdict, script, feedback, refined, times in ROWS:
        given = {Stage.SCRIPT: script, Stage.FEEDBACK: feedback, Stage.REFINED: refined}
        scores = tuple(
            GivenScore(reviewer=reviewer, stage=stage, value=value)
            for stage, value in given.items()
            if value is not None
        )
        items += [
            Judged(
                scores=scores,
                verdict=verdict,
                has_feedback=feedback is not None,
                has_refined=refined is not None,
            )
        ] * times
    return items


def count_patterns(items: list[Judged]) -> Counter[ItemPattern]:
    return Counter(pattern for item in items if (pattern := pattern_of(item)) is not None)
