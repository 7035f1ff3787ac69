"""Export scores as a table in long format, with one row per score and every column that a mixed model needs.

Short hashes replace statements and texts, because fitting a model requires only knowing which of them are equal.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import NamedTuple

from pipeline.types import Arm
from review.counting.tallies import count_due
from review.counting.used_scores import mark_scores
from review.evidence.outcomes import read_outcomes
from review.exchange.exporting.item_records import Fields, item_records
from review.exchange.exporting.score_records import score_records
from review.models import Adjudication, Assignment, Campaign, ExecutionLabel, Score
from review.study.execution import score_differs
from review.study.threats import QUARTERS

# In table order.
COLUMNS = (
    *("item", "statement", "configuration", "stage", "arm", "round", "text", "reviewer"),
    *("value", "right_strict", "right_partial", "adjudicated"),
    *("used", "current", "undone", "blind", "called_in", "copied", "imported", "own_feedback"),
    *("at", "position", "sitting", "sitting_minutes", "sitting_quarter", "active_seconds", "view"),
    *("rubric", "verdict", "made", "recommended", "execution", "purpose", "sham", "withdrawn"),
    *("overlap", "demo", "blinding"),
    # The scored script's test results, and the reviewer's reason why they differ from the score.
    *("cases_outcome", "checks_passed", "checks_failed", "execution_label"),
)
_Key = tuple[str, str]  # the item's ID and its configuration


class _Place(NamedTuple):
    """The number of a score's session, and the quarter of the session, or None if no time was recorded."""

    sitting: int | None
    quarter: int | None


def long_rows(campaign: Campaign) -> Iterator[Fields]:
    """Yield a row for each score, including replaced and undone scores, in the order in which they were saved."""
    items = _items(campaign)
    settled = _adjudicated(campaign)
    executed, labels = _executed(campaign), _labels(campaign)
    marks = mark_scores(campaign)
    blinding = "blind" if campaign.hides_verdict else "not blind"
    for score, (pk, place) in zip(score_records(campaign), _places(campaign), strict=True):
        mark = marks[pk]
        key = (str(score["item"]), str(score["configuration"]))
        stage, arm, value = str(score["stage"]), str(score["arm"]), int(str(score["value"]))
        did = executed.get((*key, stage), {}) if arm == Arm.MODEL else {}
        label = labels.get((*key, stage, str(score["reviewer"])))
        yield {
            **items[key],
            "item": key[0],
            "configuration": key[1],
            "stage": stage,
            "arm": arm,
            "round": score["round"],
            "text": _text_of(score),
            "reviewer": score["reviewer"],
            "value": value,
            "right_strict": int(value == 2),
            "right_partial": int(value >= 1),
            "adjudicated": settled.get((*key, stage, arm)),
            "used": int(mark.is_used),
            "current": int(bool(score["current"])),
            "undone": int(score["undone_at"] is not None),
            "blind": int(mark.is_blind),
            "called_in": int(score["reason"] == Assignment.Reason.TIE_BREAK),
            "copied": int(bool(score["copied"])),
            "imported": int(bool(score["imported"])),
            "own_feedback": int(score["feedback_by"] == score["reviewer"]),
            "at": score["at"],
            "position": score["position"] or None,
            "sitting": place.sitting,
            "sitting_minutes": score["sitting_minutes"],
            "sitting_quarter": place.quarter,
            "active_seconds": score["active_seconds"],
            "view": score["view"],
            "rubric": score["rubric"],
            "blinding": blinding,
            **did,
            "execution_label": label
            if score_differs(value, str(did.get("cases_outcome")))
            else None,
        }


def _executed(campaign: Campaign) -> dict[tuple[str, str, str], Fields]:
    """Return test results by item, configuration and stage. Count due items first, to use current final scores."""
    count_due(campaign)
    outcomes = read_outcomes(campaign)
    names = dict(
        campaign.items.filter(pk__in={one.item for one in outcomes}).values_list(
            "pk", "case__external_id"
        )
    )
    return {
        (names[one.item], one.configuration, one.stage): {
            "cases_outcome": one.result.outcome,
            "checks_passed": one.result.passed,
            "checks_failed": one.result.failed,
        }
        for one in outcomes
    }


def _labels(campaign: Campaign) -> dict[tuple[str, str, str, str], str]:
    rows = ExecutionLabel.objects.filter(item__campaign=campaign, current=True).exclude(reason="")
    names = ("item__case__external_id", "item__configuration__name", "stage", "by__username")
    return {
        (item, configuration, stage, by): reason
        for item, configuration, stage, by, reason in rows.values_list(*names, "reason")
    }


def _text_of(score: Mapping[str, object]) -> str | None:
    """Return a short hash of the scored text.

    The hash of feedback is computed from the script's hash and the author.
    """
    if score["draft_sha256"]:
        return str(score["draft_sha256"])[:12]
    if score["feedback_on_sha256"]:
        return _short(f"{score['feedback_on_sha256']}:{score['feedback_by'] or ''}")
    return None


def _short(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:12]


def _items(campaign: Campaign) -> dict[_Key, Fields]:
    """Return each item's data without texts."""
    return {
        (str(fields["id"]), str(fields["configuration"])): {
            **{name: fields[name] or None for name in ("verdict", "made", "recommended")},
            **{name: fields[name] for name in ("execution", "purpose", "overlap")},
            "statement": _short(str(fields["statement"])),
            **{name: int(bool(fields[name])) for name in ("sham", "withdrawn", "demo")},
        }
        for fields in item_records(campaign)
        if "configuration" in fields
    }


def _adjudicated(campaign: Campaign) -> dict[tuple[str, str, str, str], int]:
    """Return the newest adjudicated value by item, configuration, stage and arm."""
    words = Adjudication.objects.filter(item__campaign=campaign, current=True).order_by("at", "pk")
    names = ("item__case__external_id", "item__configuration__name", "stage", "arm", "value")
    return {
        (item, configuration, stage, arm): value
        for item, configuration, stage, arm, value in words.values_list(*names)
    }


def _places(campaign: Campaign) -> Iterator[tuple[int, _Place]]:
    """Return an iterator over the primary key of each score and its place in its session, in key order.

    A new session begins when the reviewer's minutes since the start of the session do not increase. The scores of a
    session are divided into quarters by time. A session with fewer than four scores has no quarters.
    """
    names = ("pk", "reviewer", "at", "sitting_minutes")
    scores = list(Score.objects.filter(item__campaign=campaign).order_by("pk").values_list(*names))
    found: dict[int, _Place] = {}
    sittings: dict[int, list[list[int]]] = defaultdict(list)
    before: dict[int, float] = {}
    for pk, reviewer, _at, minutes in sorted(scores, key=lambda one: (one[1], one[2], one[0])):
        if minutes is None:
            continue
        if reviewer not in before or minutes <= before[reviewer]:
            sittings[reviewer].append([])
        before[reviewer] = minutes
        sittings[reviewer][-1].append(pk)
    for own in sittings.values():
        for number, keys in enumerate(own, start=1):
            for place, pk in enumerate(keys):
                has_quarters = len(keys) >= QUARTERS
                quarter = place * QUARTERS // len(keys) + 1 if has_quarters else None
                found[pk] = _Place(number, quarter)
    return ((pk, found.get(pk, _Place(None, None))) for pk, *_rest in scores)
