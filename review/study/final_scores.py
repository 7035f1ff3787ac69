"""The final score of a stage, from the scores that several reviewers gave to the same text."""

from __future__ import annotations

from collections.abc import Collection

from review.study.types import Standing


def final_of(
    values: Collection[int], *, adjudicated: int | None = None, is_complete: bool = True
) -> Standing:
    """The adjudicated score; else, under each criterion, what more than half of the scores say.

    With as many right as wrong it is unresolved under that criterion; scored by some of those asked, it is
    pending. Three scores never tie: 0, 1, 2 is wrong under strict and right under partial, which is a 1.
    """
    if adjudicated is not None:
        return Standing(str(adjudicated))
    if not values:
        return Standing.UNSCORED
    if not is_complete:
        return Standing.PENDING
    right = sum(value == 2 for value in values)
    partial = sum(value >= 1 for value in values)
    return _FINAL[_say(right, len(values)), _say(partial, len(values))]


def _say(right: int, of: int) -> bool | None:
    return None if 2 * right == of else 2 * right > of


# By what strict says and what partial says. What is right under strict is so under partial.
_FINAL: dict[tuple[bool | None, bool | None], Standing] = {
    (False, False): Standing.INCORRECT,
    (False, True): Standing.PARTIAL,
    (True, True): Standing.CORRECT,
    (False, None): Standing.BELOW,
    (None, True): Standing.ABOVE,
    (None, None): Standing.UNRESOLVED,
}
