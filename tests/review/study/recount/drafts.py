"""The Drafts of an item in order of rounds, and which of them the product recommends."""

from __future__ import annotations

from tests.review.study.recount.records import Record, stage_of_round

# A Draft that is recommended, and of which the export says no more.
ELSEWHERE = "elsewhere"


def recommended_stage(item: Record) -> str | None:
    """The stage of the Draft that the product recommends; None where it recommends none."""
    name = item.get("recommended") or "none"
    if name != "other":
        return {"first": "script", "refined": "refined"}.get(name)
    later = item.get("later") or ()
    return next(
        (stage_of_round(one["round"]) for one in later if one.get("recommended")), ELSEWHERE
    )


def same_stage(item: Record, stage: str) -> str:
    """The earliest stage of the chain of Drafts at which the same text stands: it has that one's score."""
    if stage == "script" or not item.get("script"):
        return stage
    for earlier, text in chain_of(item):
        if text == _draft_at(item, stage):
            return earlier
    return stage


def chain_of(item: Record) -> list[tuple[str, str]]:
    """The Drafts in order of rounds, as stage and text."""
    found = [("script", item.get("script") or ""), ("refined", item.get("refined") or "")]
    found += [(stage_of_round(one["round"]), one["refined"]) for one in item.get("later") or ()]
    return [one for one in found if one[1]]


def _draft_at(item: Record, stage: str) -> str | None:
    return dict(chain_of(item)).get(stage)
