"""What a stage came to under a criterion, and what became of the later objects of an item."""

from __future__ import annotations

from itertools import product

from tests.review.study.recount.records import (
    Record,
    Study,
    is_failed,
    is_flagged,
    is_over,
    text_of,
)

CRITERIA = {"strict": {2}, "partial": {1, 2}}
RIGHT, WRONG, UNRESOLVED, PENDING = "right", "wrong", "unresolved", "pending"
ABSENT, OPEN = "absent", "open"


def final(study: Study, item: Record, stage: str, criterion: str) -> str:
    """Right, wrong, unresolved or pending."""
    good = CRITERIA[criterion]
    if stage == "script" and is_failed(item):
        return WRONG
    settled = study.adjudicated.get((text_of(item, stage), stage))
    if settled:
        return RIGHT if settled[-1]["value"] in good else WRONG
    if not _is_done(study, item, stage):
        return PENDING
    values = list(study.counting(item, stage).values())
    right = sum(value in good for value in values)
    if 2 * right == len(values):
        return UNRESOLVED
    return RIGHT if 2 * right > len(values) else WRONG


def _is_done(study: Study, item: Record, stage: str) -> bool:
    """Whether all who are wanted are done, and two scored where two or more were wanted."""
    scored = set(study.counting(item, stage))
    planned = item.get("overlap") or 1
    if planned == 1:
        return bool(scored)
    done = scored | study.could_not.get(text_of(item, "script"), set())
    if stage == "script":
        return len(done) >= planned and len(scored) >= 2
    if not _is_done(study, item, "script"):
        return False  # the gate may still open for somebody
    opened = _opened_for(study, item)
    # Whoever scored it having seen more does not count, and is not waited for: somebody else is.
    given = set(study.scores.get((text_of(item, stage), stage), {}))
    wanted = min(planned, len(opened))
    return (
        bool(scored)
        and opened <= done | given
        and len(done & opened) >= wanted
        and len(scored) >= min(2, wanted)
    )


def _opened_for(study: Study, item: Record) -> set[str]:
    """Reviewers who are shown the later stages."""
    is_shown_to_all = is_flagged(item) and bool(item.get("refined"))
    values = study.counting(item, "script")
    return {reviewer for reviewer, value in values.items() if value < 2 or is_shown_to_all}


def exists(study: Study, item: Record, stage: str) -> bool:
    """Whether the object was made; of labels without texts, whether anybody scored it."""
    if item.get("script"):
        return bool(item.get(stage))
    key = text_of(item, stage), stage
    return bool(study.scores.get(key) or study.adjudicated.get(key))


def outcome(study: Study, item: Record, stage: str, criterion: str) -> str:
    """Right, wrong, absent or open: of the feedback or the refined script."""
    if not exists(study, item, stage):
        return ABSENT if is_over(item) else OPEN
    is_same = stage == "refined" and item.get("script") and item["refined"] == item["script"]
    found = final(study, item, "script" if is_same else stage, criterion)
    return found if found in (RIGHT, WRONG) else OPEN


def completions(study: Study, item: Record, criterion: str) -> list[tuple[str, str, str]]:
    """Every way in which script, feedback and refined script of the item can still come out."""
    script = final(study, item, "script", criterion)
    found = []
    scripts = (script,) if script in (RIGHT, WRONG) else (RIGHT, WRONG)
    feedbacks = _ends(study, item, "feedback", criterion)
    refineds = _ends(study, item, "refined", criterion)
    is_same = item.get("script") and item.get("refined") == item.get("script")
    for ends in product(scripts, feedbacks, refineds):
        if not is_same or ends[2] == ends[0]:
            found.append(ends)
    return found


def _ends(study: Study, item: Record, stage: str, criterion: str) -> tuple[str, ...]:
    found = outcome(study, item, stage, criterion)
    if found != OPEN:
        return (found,)
    return (RIGHT, WRONG) if exists(study, item, stage) else (RIGHT, WRONG, ABSENT)
