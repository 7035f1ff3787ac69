"""Find the score of each reviewer that counts."""

from __future__ import annotations

from tests.review.study.recount.records import Record, Study


def used_values(
    study: Study, given: dict[str, list[Record]], *, with_not_blind: bool = False
) -> dict[str, int]:
    """Return each reviewer's value that counts, without reviewers who have no such value."""
    found = {}
    for name, scores in given.items():
        used = used_score(study, scores)
        if used and (with_not_blind or not study.hides_verdict or study.is_blind(used)):
            found[name] = used["value"]
    return found


def used_score(study: Study, scores: list[Record]) -> Record | None:
    """Return the score that counts: the newest, or the one before it if a later stage was visible at the time of the
    change.

    An undone score counts only if the same reviewer scored again. Then the earlier value counts.
    """
    place = len(scores) - 1
    while place >= 0 and scores[place].get("undone_at"):
        place -= 1
    if place < 0:
        return None
    while place > 0 and not study.is_blind(scores[place]):
        place -= 1
    return scores[place]


def was_called_in(score: Record) -> bool:
    """Return whether the reviewer was called in because other reviewers disagreed."""
    return score.get("reason") == "tie_break"
