"""An export read back: its items, and which score of each reviewer counts for which text."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

Record = dict[str, Any]
Text = tuple[str, ...]  # what is scored; the same key in several arms is the same text
STAGES = ("script", "feedback", "refined")
_UNDER_WAY = ("queued", "running", "waiting")
_NO_TIME = datetime.min.replace(tzinfo=UTC)


@dataclass
class Study:
    """Real items of a campaign, and everything said of them by text."""

    hides_verdict: bool
    is_closed: bool
    items: list[Record]
    # (text, stage) to reviewer to the scores in the order of time, the newest last.
    scores: dict[tuple[Text, str], dict[str, list[Record]]] = field(default_factory=dict)
    adjudicated: dict[tuple[Text, str], list[Record]] = field(default_factory=dict)
    # Reviewers who said of a text that they can't judge it.
    could_not: dict[Text, set[str]] = field(default_factory=dict)
    expert_scores: list[Record] = field(default_factory=list)
    # Figure, criterion and one or two configurations of each comparison that was fixed at opening; None if none was.
    family: list[list[str]] | None = None

    @property
    def configurations(self) -> list[str]:
        """Their names, in the order in which their first items stand."""
        return list(dict.fromkeys(item["configuration"] for item in self.items))

    def counting(self, item: Record, stage: str) -> dict[str, int]:
        """The value of each reviewer that the figures use."""
        given = self.scores.get((text_of(item, stage), stage), {})
        found = {}
        for reviewer, scores in given.items():
            used = _used(scores)
            if used and (is_blind(used) or not self.hides_verdict):
                found[reviewer] = used["value"]
        return found

    def independent(self, item: Record, stage: str) -> dict[str, int]:
        """The same without those who were called in because others differed: what agreement is made from."""
        given = self.scores.get((text_of(item, stage), stage), {})
        return {
            reviewer: value
            for reviewer, value in self.counting(item, stage).items()
            if given[reviewer][0].get("reason") != "tie_break"
        }


def is_blind(score: Record) -> bool:
    """Whether no more was visible than the score's stage shows."""
    seen = score.get("visible") or {}
    return score.get("blind", True) and not (score["stage"] == "script" and seen.get("verdict"))


def _used(scores: list[Record]) -> Record | None:
    """The newest; where that was changed after something later was visible, the one before it.

    One that was taken back stands only where the same reviewer scored again: then it is the value before.
    """
    place = len(scores) - 1
    while place >= 0 and scores[place].get("undone_at"):
        place -= 1
    if place < 0:
        return None
    while place > 0 and not is_blind(scores[place]):
        place -= 1
    return scores[place]


def text_of(item: Record, stage: str) -> Text:
    """What a score of this stage is about; without a text of its own it is the item's alone."""
    script, later = item.get("script"), item.get(stage)
    if not script or not later:
        return (item["id"], "", item["configuration"])
    return (item["id"], script) if stage == "script" else (item["id"], script, later)


def is_failed(item: Record) -> bool:
    """Whether the run ended without a script."""
    return item.get("made") == "failed"


def is_flagged(item: Record) -> bool:
    """Whether the first assessment said incorrect."""
    return verdict_of(item) == "incorrect"


def verdict_of(item: Record) -> str:
    """That of the first assessment; empty where there was none."""
    first = item.get("assessment") or {}
    return first.get("verdict") or item.get("verdict") or ""


def is_over(item: Record) -> bool:
    """Whether nothing more will be made for it."""
    return item.get("run_state") not in _UNDER_WAY


def read_study(lines: Iterable[str]) -> Study:
    """A study from the lines of its export."""
    records = [json.loads(line) for line in lines if line.strip()]
    rules = next((one["about"] for one in records if one["record"] == "campaign"), {})
    items = [one for one in records if one["record"] == "item" and _counts(one)]
    study = Study(
        hides_verdict=rules.get("hides_verdict", True),
        is_closed=rules.get("state") == "closed",
        items=items,
        family=rules.get("p_family"),
    )
    by_key = {(item["id"], item["configuration"]): item for item in items}
    said = [
        (one, by_key[one["item"], one["configuration"]])
        for one in records
        if (one.get("item"), one.get("configuration")) in by_key
    ]
    said.sort(key=lambda pair: _time(pair[0]))  # stable: of a tie the later line is last
    _take_scores(study, said)
    for one, item in said:
        if one["record"] == "adjudication" and one.get("arm", "model") == "model":
            key = text_of(item, one["stage"]), one["stage"]
            study.adjudicated.setdefault(key, []).append(one)
        if one.get("passed_over") == "cannot_judge":
            study.could_not.setdefault(text_of(item, "script"), set()).add(one["reviewer"])
    return study


def _counts(item: Record) -> bool:
    return (
        item.get("purpose", "real") == "real"
        and not item.get("withdrawn")
        and bool(item.get("configuration"))
    )


def _time(one: Record) -> datetime:
    return datetime.fromisoformat(one["at"]) if one.get("at") else _NO_TIME


def _take_scores(study: Study, said: list[tuple[Record, Record]]) -> None:
    found: dict[tuple[Text, str], dict[str, list[Record]]] = defaultdict(lambda: defaultdict(list))
    later = []
    for one, item in said:
        if one["record"] != "score":
            continue
        if one.get("arm", "model") == "expert":
            study.expert_scores.append(one)
        elif one["stage"] == "script":
            if _is_of(one, item.get("script_sha256")):
                found[text_of(item, "script"), "script"][one["reviewer"]].append(one)
        else:
            later.append((one, item))
    study.scores = found
    for one, item in later:
        if one["stage"] == "refined" and not _is_of(one, item.get("refined_sha256")):
            continue
        is_sham = item.get("sham") and not is_flagged(item)
        if is_sham and study.counting(item, "script").get(one["reviewer"]) == 2:
            continue
        found[text_of(item, one["stage"]), one["stage"]][one["reviewer"]].append(one)


def _is_of(score: Record, sha256: str | None) -> bool:
    seen = score.get("draft_sha256")
    return not (seen and sha256 and seen != sha256)
