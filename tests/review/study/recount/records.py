"""Read an export: its items, and all scores and adjudications of each text in chronological order."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

Record = dict[str, Any]
Text = tuple[str, ...]  # the scored text; the same key in multiple arms is the same text
# A text and the stage of its scores: `script`, `feedback`, `refined`, and `refined 2` etc. for later rounds.
Place = tuple[Text, str]
STAGES = ("script", "feedback", "refined")
_UNDER_WAY = ("queued", "running", "waiting")
_NO_TIME = datetime.min.replace(tzinfo=UTC)
_HIDDEN = ("verdict", "models", "reviewers", "execution", "reference")


@dataclass
class Study:
    """The real items of a campaign, with all their scores and adjudications."""

    rules: Record
    items: list[Record]
    # Maps each place to the scores by reviewer, newest last. A score that is copied to other arms is listed once.
    scores: dict[Place, dict[str, list[Record]]] = field(default_factory=dict)
    adjudicated: dict[Place, list[Record]] = field(default_factory=dict)
    # Reviewers who could not judge a text, and items that any reviewer skipped.
    could_not: dict[Text, set[str]] = field(default_factory=dict)
    passed_over: set[tuple[str, str]] = field(default_factory=set)
    # Maps each item and feedback author to the scores of the expert's refinement, by reviewer.
    expert_scores: dict[tuple[Text, str], dict[str, list[Record]]] = field(default_factory=dict)
    expert_words: dict[Text, list[Record]] = field(default_factory=dict)
    # Seconds of work on an item, from each score that records them.
    seconds: dict[tuple[str, str], list[float]] = field(default_factory=dict)

    # The `id()` of each score in the first quarter of its reviewer's scores.
    early: set[int] = field(default_factory=set)

    @property
    def hides_verdict(self) -> bool:
        return bool(self.rules.get("hides_verdict", True))

    @property
    def is_closed(self) -> bool:
        return self.rules.get("state") == "closed"

    @property
    def family(self) -> list[list[str]] | None:
        """Return the figure, criterion and one or two configurations of each comparison that was fixed at opening."""
        found: list[list[str]] | None = self.rules.get("p_family")
        return found

    @property
    def configurations(self) -> list[str]:
        """Return the names of the configurations, in the order of their first items."""
        return list(dict.fromkeys(item["configuration"] for item in self.items))

    def is_blind(self, score: Record) -> bool:
        """Return whether the score's record shows that nothing beyond the score's stage was visible.

        Data that the campaign doesn't hide may be visible. Feedback may be visible from the feedback stage on.
        """
        seen, hides = score.get("visible") or {}, self.hides_verdict
        hidden = [name for name in _HIDDEN if self.rules.get(f"hides_{name}", True)]
        if score["stage"] == "script":
            hidden.append("feedback")
        return bool(score.get("blind", True)) and not (hides and any(map(seen.get, hidden)))


def text_of(item: Record, stage: str) -> Text:
    """Return the key of the text that a score of this stage is about. Without a text, the key is the item's own."""
    script, later = item.get("script"), item.get(stage)
    if not script or not later:
        return (item["id"], "", item["configuration"])
    return (item["id"], script) if stage == "script" else (item["id"], script, later)


def own_text(item: Record) -> Text:
    """Return a key that no other arm shares, for later rounds and for objects created for experts."""
    return (item["id"], "", item["configuration"])


def place_of(item: Record, stage: str) -> Place:
    return (text_of(item, stage) if stage in STAGES else own_text(item)), stage


def stage_of_round(round_: int) -> str:
    return "refined" if round_ <= 1 else f"refined {round_}"


def is_failed(item: Record) -> bool:
    """Return whether the run ended without a script."""
    return item.get("made") == "failed"


def is_flagged(item: Record) -> bool:
    """Return whether the first assessment is "incorrect"."""
    return verdict_of(item) == "incorrect"


def verdict_of(item: Record) -> str:
    """Return the verdict of the first assessment, or "" if no assessment exists."""
    first = item.get("assessment") or {}
    return first.get("verdict") or item.get("verdict") or ""


def is_over(item: Record) -> bool:
    """Return whether the run has ended, so that it creates no more objects for the item."""
    return item.get("run_state") not in _UNDER_WAY


def read_study(lines: Iterable[str]) -> Study:
    """Read a study from the lines of its export."""
    records = [json.loads(line) for line in lines if line.strip()]
    rules = next((one["about"] for one in records if one["record"] == "campaign"), {})
    study = Study(
        rules, [one for one in records if one["record"] == "item" and _counts(one, rules)]
    )
    by_key = {(item["id"], item["configuration"]): item for item in study.items}
    said = [
        (one, by_key[one["item"], one["configuration"]])
        for one in records
        if (one.get("item"), one.get("configuration")) in by_key
    ]
    # The sort is stable, so in a tie the later line is last.
    said.sort(key=lambda pair: _time(pair[0]))
    _take_scores(study, said)
    for one, item in said:
        if one["record"] == "adjudication" and one.get("current", True):
            if one.get("arm", "model") == "model":
                study.adjudicated.setdefault(place_of(item, one["stage"]), []).append(one)
            else:
                study.expert_words.setdefault(own_text(item), []).append(one)
        if one.get("passed_over"):
            study.passed_over.add((item["id"], item["configuration"]))
        if one.get("passed_over") == "cannot_judge":
            study.could_not.setdefault(text_of(item, "script"), set()).add(one["reviewer"])
    return study


def _counts(item: Record, rules: Record) -> bool:
    """Return whether the item counts in figures. Items of a pilot count only if the manager decided this."""
    return (
        item.get("purpose", "real") == "real"
        and not item.get("withdrawn")
        and bool(item.get("configuration"))
        and bool(rules.get("pilot_counts") or not item.get("pilot"))
    )


def _time(one: Record) -> datetime:
    return datetime.fromisoformat(one["at"]) if one.get("at") else _NO_TIME


def _take_scores(study: Study, said: list[tuple[Record, Record]]) -> None:
    found: dict[Place, dict[str, list[Record]]] = defaultdict(lambda: defaultdict(list))
    experts: dict[tuple[Text, str], dict[str, list[Record]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for one, item in said:
        if one["record"] != "score":
            continue
        if one.get("active_seconds") is not None:
            key = item["id"], item["configuration"]
            study.seconds.setdefault(key, []).append(one["active_seconds"])
        if one.get("arm", "model") == "expert":
            if one["stage"] == "refined":
                author = one.get("feedback_by") or item["experts"][0]["author"]
                experts[own_text(item), author][one["reviewer"]].append(one)
            continue
        stage = one["stage"]
        stage = stage_of_round(one.get("round") or 1) if stage == "refined" else stage
        found[place_of(item, stage)][one["reviewer"]].append(one)
    study.early = _first_quarters(one for one, _item in said if one["record"] == "score")
    study.expert_scores = experts
    study.scores = {
        place: {reviewer: _without_copies(given) for reviewer, given in by_reviewer.items()}
        for place, by_reviewer in found.items()
    }


def _first_quarters(scores: Iterable[Record]) -> set[int]:
    """Return the IDs of the scores in each reviewer's first quarter by time, excluding copies and undated scores."""
    given: dict[str, list[Record]] = defaultdict(list)
    for one in scores:
        if one.get("at") and not one.get("copied"):
            given[one["reviewer"]].append(one)
    return {id(one) for own in given.values() for one in own[: len(own) // 4]}


def _without_copies(given: list[Record]) -> list[Record]:
    """Return a reviewer's own scores of a text. The same scores in other arms are copies."""
    return [one for one in given if not one.get("copied")] or given


# the recommended Draft is not in the export
ELSEWHERE = "elsewhere"


def recommended_stage(item: Record) -> str | None:
    """Return the stage of the Draft that the product recommends, or None."""
    name = item.get("recommended") or "none"
    if name != "other":
        return {"first": "script", "refined": "refined"}.get(name)
    later = item.get("later") or ()
    return next(
        (stage_of_round(one["round"]) for one in later if one.get("recommended")), ELSEWHERE
    )


def same_stage(item: Record, stage: str) -> str:
    """Return the earliest stage in the chain of Drafts that has the same text. Both stages share a score."""
    if stage == "script" or not item.get("script"):
        return stage
    for earlier, text in chain_of(item):
        if text == _draft_at(item, stage):
            return earlier
    return stage


def chain_of(item: Record) -> list[tuple[str, str]]:
    """Return the Drafts as pairs of stage and text, in the order of rounds."""
    found = [("script", item.get("script") or ""), ("refined", item.get("refined") or "")]
    found += [(stage_of_round(one["round"]), one["refined"]) for one in item.get("later") or ()]
    return [one for one in found if one[1]]


def _draft_at(item: Record, stage: str) -> str | None:
    return dict(chain_of(item)).get(stage)
