"""Every figure of a configuration: what each item brings to it, and what an open one still can."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

from tests.review.study.recount.finals import (
    ABSENT,
    CRITERIA,
    OPEN,
    PENDING,
    RIGHT,
    UNRESOLVED,
    WRONG,
    completions,
    exists,
    final,
    outcome,
)
from tests.review.study.recount.intervals import mcnemar, paired_interval, share_interval
from tests.review.study.recount.records import Record, Study, is_failed, is_flagged, verdict_of

Part = tuple[int, int]  # numerator and denominator
NOTHING: Part = (0, 0)
NOT_PART = "not part of this study"
NOTHING_YET = "nothing to count yet"


def _all(is_right: bool) -> Part:
    return int(is_right), 1


def _first_pass(item: Record, script: str, _feedback: str, _refined: str) -> Part:
    return _all(script == RIGHT)


def _agreement(item: Record, script: str, _feedback: str, _refined: str) -> Part:
    verdict = verdict_of(item)
    if verdict not in ("correct", "incorrect"):
        return NOTHING
    return _all((verdict == "correct") == (script == RIGHT))


def _recall(item: Record, script: str, _feedback: str, _refined: str) -> Part:
    return _all(is_flagged(item)) if script == WRONG and verdict_of(item) else NOTHING


def _precision(item: Record, script: str, _feedback: str, _refined: str) -> Part:
    return _all(script == WRONG) if is_flagged(item) else NOTHING


def _useful(item: Record, script: str, feedback: str, _refined: str) -> Part:
    return _all(feedback == RIGHT) if script == WRONG and feedback != ABSENT else NOTHING


def _correction(item: Record, script: str, feedback: str, refined: str) -> Part:
    return _all(refined == RIGHT) if script == WRONG and feedback == RIGHT else NOTHING


def _expert_triggered(item: Record, script: str, _feedback: str, refined: str) -> Part:
    return _all(RIGHT in (script, refined if script == WRONG else script))


def _assessor_triggered(item: Record, script: str, _feedback: str, refined: str) -> Part:
    return _all((refined if is_flagged(item) and refined != ABSENT else script) == RIGHT)


def _as_recommended(item: Record, script: str, _feedback: str, refined: str) -> Part:
    if is_failed(item):
        return _all(False)
    chosen = {"first": script, "refined": refined}.get(item.get("recommended") or "")
    return NOTHING if chosen is None else _all(chosen == RIGHT)


def _fixed(item: Record, script: str, _feedback: str, refined: str) -> Part:
    return _all(refined == RIGHT) if is_flagged(item) and script == WRONG else NOTHING


def _broken(item: Record, script: str, _feedback: str, refined: str) -> Part:
    return _all(refined == WRONG) if is_flagged(item) and script == RIGHT else NOTHING


def _net(item: Record, script: str, _feedback: str, refined: str) -> Part:
    if not is_flagged(item) or refined in (ABSENT, script):
        return 0, 1
    return (1 if refined == RIGHT else -1), 1


def _execution(item: Record, script: str, _feedback: str, _refined: str) -> Part:
    found = item.get("execution")
    return NOTHING if found is None else _all((found == 1) == (script == RIGHT))


FIGURES: dict[str, Callable[[Record, str, str, str], Part]] = {
    "first_pass_accuracy": _first_pass,
    "assessor_agreement": _agreement,
    "assessor_recall": _recall,
    "assessor_precision": _precision,
    "feedback_useful": _useful,
    "model_correction": _correction,
    "overall_expert_triggered": _expert_triggered,
    "overall_assessor_triggered": _assessor_triggered,
    "overall_as_recommended": _as_recommended,
    "fixed": _fixed,
    "broken": _broken,
    "net": _net,
    "execution_agreement": _execution,
}
RANGED = tuple(name for name in FIGURES if name.startswith("overall_")) + ("net",)
_NEEDS_VERDICT = (
    *("assessor_agreement", "assessor_recall", "assessor_precision"),
    *("overall_assessor_triggered", "fixed", "broken", "net"),
)
_NEEDS_REFINED = (
    *("model_correction", "overall_expert_triggered", "overall_assessor_triggered"),
    *("fixed", "broken", "net"),
)
_NEEDS_FEEDBACK = ("feedback_useful", "model_correction")


def model_items(study: Study, configuration: str) -> list[Record]:
    """Items of the configuration that its model is judged by: what was retrieved is not its work."""
    return [
        item
        for item in study.items
        if item["configuration"] == configuration and item.get("made") != "retrieved"
    ]


def missing(study: Study, items: list[Record], name: str) -> bool:
    """Whether what the figure is about exists nowhere in the configuration."""
    if name in _NEEDS_VERDICT and not any(verdict_of(item) for item in items):
        return True
    if name in _NEEDS_REFINED and not any(exists(study, item, "refined") for item in items):
        return True
    if name in _NEEDS_FEEDBACK and not any(exists(study, item, "feedback") for item in items):
        return True
    if name == "overall_as_recommended":
        return not any(item.get("recommended") in ("first", "refined", "other") for item in items)
    return name == "execution_agreement" and all(item.get("execution") is None for item in items)


def figures_of(study: Study, configuration: str, criterion: str) -> dict[str, dict[str, Any]]:
    """Each figure by its name."""
    items = model_items(study, configuration)
    statements = Counter(item["statement"] for item in items)
    repeats = any(count > 1 for count in statements.values())
    ends = [(item, completions(study, item, criterion)) for item in items]
    found = {}
    for name in FIGURES:
        if missing(study, items, name):
            empty = dict.fromkeys(("value", "low", "high", "bounds", "range", "post_stratified"))
            found[name] = {"numerator": 0, "denominator": 0, "reason": NOT_PART, **empty}
        else:
            found[name] = _figure(study, name, criterion, ends, repeats=repeats)
    return found


def _figure(
    study: Study,
    name: str,
    criterion: str,
    ends: list[tuple[Record, list[tuple[str, str, str]]]],
    *,
    repeats: bool,
) -> dict[str, Any]:
    brings = FIGURES[name]
    closed: list[tuple[Record, Part]] = []
    scored: list[set[Part]] = []
    everything: list[set[Part]] = []
    strata: dict[tuple[bool, bool], list[set[Part]]] = defaultdict(list)
    left_out = 0
    for item, ways in ends:
        parts = {brings(item, *way) for way in ways}
        everything.append(parts)
        script = final(study, item, "script", criterion)
        if script not in (RIGHT, WRONG):
            left_out += parts != {NOTHING}
            continue
        scored.append(parts)
        if len(parts) == 1:
            closed.append((item, next(iter(parts))))
        strata[script == RIGHT, is_flagged(item)].append(parts)
    used = [(item, part) for item, part in closed if part[1]]
    numerator = sum(part[0] for _item, part in used)
    made: dict[str, Any] = {
        "numerator": numerator,
        "denominator": len(used),
        "value": numerator / len(used) if used else None,
        "reason": None if used else NOTHING_YET,
        "open": left_out + len(scored) - len(closed),
        "bounds": _bounds(everything, is_net=name == "net"),
        "range": None,
        "post_stratified": None,
    }
    if name in RANGED and len(closed) < len(scored):
        made["range"] = _bounds(scored, is_net=name == "net")
        made["post_stratified"] = _post_stratified(list(strata.values()))
    if name == "net":
        pairs = [_before_and_after(study, item, criterion, part) for item, part in used]
        interval, deff = paired_interval(pairs, repeats=repeats)
        values = [part[0] for _item, part in used]
        made["p_value"] = mcnemar(values.count(-1), values.count(1)) if values else None
    else:
        interval, deff = share_interval(
            [(item["statement"], part[0]) for item, part in used], repeats=repeats
        )
    made["low"], made["high"] = interval or (None, None)
    return {**made, "deff": deff}


def _before_and_after(
    study: Study, item: Record, criterion: str, part: Part
) -> tuple[str, int, int]:
    before = int(final(study, item, "script", criterion) == RIGHT)
    return item["statement"], before, before + part[0]


def _bounds(items: list[set[Part]], *, is_net: bool) -> tuple[float, float] | None:
    """The least and greatest value that any completion has; an empty denominator bounds nothing."""
    if is_net:
        if not items:
            return None
        least = sum(min(part[0] for part in parts) for parts in items)
        most = sum(max(part[0] for part in parts) for parts in items)
        return least / len(items), most / len(items)
    ends = []
    for wanted in (((0, 1), NOTHING, (1, 1)), ((1, 1), NOTHING, (0, 1))):
        chosen = [next(part for part in wanted if part in parts) for parts in items]
        n = sum(part[1] for part in chosen)
        ends.append(sum(part[0] for part in chosen) / n if n else None)
    low, high = ends
    # Without any item that must count at one end, the other end's value is reached at both.
    if low is None or high is None:
        either = low if high is None else high
        return None if either is None else (either, either)
    return low, high


def _post_stratified(strata: list[list[set[Part]]]) -> float | None:
    """The mean over strata of the closed items' value, weighted by all their items."""
    total, weight = 0.0, 0
    for items in strata:
        members = [parts for parts in items if parts != {NOTHING}]
        closed = [next(iter(parts)) for parts in members if len(parts) == 1]
        if not members:
            continue
        if not closed:
            return None
        total += len(members) * sum(part[0] for part in closed) / len(closed)
        weight += len(members)
    return total / weight if weight else None


def counts_of(study: Study, configuration: str, criterion: str) -> dict[str, int]:
    """What is left out and why."""
    items = model_items(study, configuration)
    scripts = Counter(final(study, item, "script", criterion) for item in items)
    found = {
        "items": len(items),
        "scored": scripts[RIGHT] + scripts[WRONG],
        "unresolved": scripts[UNRESOLVED],
        "pending": scripts[PENDING],
        "failed": sum(is_failed(item) for item in items),
        "repaired": sum(item.get("made") == "repaired" for item in items),
        "retrieved": sum(
            item["configuration"] == configuration and item.get("made") == "retrieved"
            for item in study.items
        ),
    }
    wrong = [item for item in items if final(study, item, "script", criterion) == WRONG]
    for stage in ("feedback", "refined"):
        ends = Counter(outcome(study, item, stage, criterion) for item in wrong)
        found[f"absent_{stage}"], found[f"open_{stage}"] = ends[ABSENT], ends[OPEN]
    return found


def recount_figures(study: Study) -> dict[str, dict[str, dict[str, Any]]]:
    """Configuration to criterion to figure."""
    return {
        configuration: {
            criterion: figures_of(study, configuration, criterion) for criterion in CRITERIA
        }
        for configuration in study.configurations
    }
