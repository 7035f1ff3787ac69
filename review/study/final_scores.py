"""Determine the final score of a stage from the scores by different reviewers."""

from __future__ import annotations

from collections.abc import Collection

from review.study.types import FinalScore


def final_of(
    values: Collection[int], *, adjudicated: int | None = None, is_complete: bool = True
) -> FinalScore:
    """Return the adjudicated score or, without adjudication, the majority's result under each criterion.

    A tie is unresolved under that criterion. The result is pending until all reviewers have scored. Three scores never
    tie. Scores of 0, 1 and 2, for example, are wrong under strict and right under partial, so the result is 1.
    """
    if adjudicated is not None:
        return FinalScore(str(adjudicated))
    if not values:
        return FinalScore.UNSCORED
    if not is_complete:
        return FinalScore.PENDING
    right = sum(value == 2 for value in values)
    partial = sum(value >= 1 for value in values)
    return _FINAL[_say(right, len(values)), _say(partial, len(values))]


def _say(right: int, of: int) -> bool | None:
    return None if 2 * right == of else 2 * right > of


# Keys are the results under strict and under partial. A score that is right under strict is also right under partial.
_FINAL: dict[tuple[bool | None, bool | None], FinalScore] = {
    (False, False): FinalScore.INCORRECT,
    (False, True): FinalScore.PARTIAL,
    (True, True): FinalScore.CORRECT,
    (False, None): FinalScore.BELOW,
    (None, True): FinalScore.ABOVE,
    (None, None): FinalScore.UNRESOLVED,
}
