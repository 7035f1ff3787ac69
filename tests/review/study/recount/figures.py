"""Recount every figure of a configuration from its items' contributions, with the range of open items."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from tests.review.study.recount.beside import beside_of
from tests.review.study.recount.finals import (
    ABSENT,
    PENDING,
    RECOMMENDED,
    RIGHT,
    UNRESOLVED,
    VERDICT,
    WRONG,
    End,
    Finals,
)
from tests.review.study.recount.intervals import (
    NOTHING,
    Part,
    bounds,
    mcnemar,
    paired_interval,
    post_stratified,
    share_of,
)
from tests.review.study.recount.records import (
    Record,
    Study,
    is_failed,
    is_flagged,
    recommended_stage,
    verdict_of,
)

NOT_PART = "not part of this study"
MOST_OPEN = 0.05
NOTHING_YET = "no data yet"


def _all(is_right: bool) -> Part:
    return int(is_right), 1


def _first_pass(item: Record, end: End) -> Part:
    return _all(end["script"] == RIGHT)


def _verdict(item: Record, end: End) -> str:
    return end.get(VERDICT, verdict_of(item))


def _is_flagged(item: Record, end: End) -> bool:
    return _verdict(item, end) == "incorrect"


def _agreement(item: Record, end: End) -> Part:
    verdict = _verdict(item, end)
    if verdict not in ("correct", "incorrect"):
        return NOTHING
    return _all((verdict == "correct") == (end["script"] == RIGHT))


def _recall(item: Record, end: End) -> Part:
    return (
        _all(_is_flagged(item, end)) if end["script"] == WRONG and _verdict(item, end) else NOTHING
    )


def _precision(item: Record, end: End) -> Part:
    return _all(end["script"] == WRONG) if _is_flagged(item, end) else NOTHING


def _useful(item: Record, end: End) -> Part:
    is_about = end["script"] == WRONG and end["feedback"] != ABSENT
    return _all(end["feedback"] == RIGHT) if is_about else NOTHING


def _correction(item: Record, end: End) -> Part:
    is_about = end["script"] == WRONG and end["feedback"] == RIGHT
    return _all(end["refined"] == RIGHT) if is_about else NOTHING


def _still_wrong_of_feedback(item: Record, end: End) -> Part:
    right, of = _correction(item, end)
    return of - right, of


def _still_wrong_of_items(item: Record, end: End) -> Part:
    return _still_wrong_of_feedback(item, end)[0], 1


def _expert_triggered(item: Record, end: End) -> Part:
    return _all(RIGHT in (end["script"], end["refined"] if end["script"] == WRONG else WRONG))


def _assessor_triggered(item: Record, end: End) -> Part:
    is_switched = _is_flagged(item, end) and end["refined"] != ABSENT
    return _all(end["refined" if is_switched else "script"] == RIGHT)


def _as_recommended(item: Record, end: End) -> Part:
    if is_failed(item):
        return _all(False)
    chosen = end.get(RECOMMENDED, recommended_stage(item))
    return _all(end.get(chosen, chosen) == RIGHT) if chosen else NOTHING


def _fixed(item: Record, end: End) -> Part:
    is_about = _is_flagged(item, end) and end["script"] == WRONG
    return _all(end["refined"] == RIGHT) if is_about else NOTHING


def _broken(item: Record, end: End) -> Part:
    is_about = _is_flagged(item, end) and end["script"] == RIGHT
    return _all(end["refined"] == WRONG) if is_about else NOTHING


def _net(item: Record, end: End) -> Part:
    return _fixed(item, end)[0] - _broken(item, end)[0], 1


def _execution(item: Record, end: End) -> Part:
    found = item.get("execution")
    return NOTHING if found is None else _all((found == 1) == (end["script"] == RIGHT))


FIGURES: dict[str, Callable[[Record, End], Part]] = {
    "first_pass_accuracy": _first_pass,
    "assessor_agreement": _agreement,
    "assessor_recall": _recall,
    "assessor_precision": _precision,
    "feedback_useful": _useful,
    "model_correction": _correction,
    "still_wrong_of_feedback": _still_wrong_of_feedback,
    "still_wrong_of_items": _still_wrong_of_items,
    "overall_expert_triggered": _expert_triggered,
    "overall_assessor_triggered": _assessor_triggered,
    "overall_as_recommended": _as_recommended,
    "fixed": _fixed,
    "broken": _broken,
    "net": _net,
    "execution_agreement": _execution,
}
RANGED = (
    *(name for name in FIGURES if name.startswith("overall_")),
    *("net", "still_wrong_of_items"),
)
_NEEDS_VERDICT = (
    *("assessor_agreement", "assessor_recall", "assessor_precision"),
    *("overall_assessor_triggered", "fixed", "broken", "net"),
)
_NEEDS_REFINED = (
    *("model_correction", "overall_expert_triggered", "overall_assessor_triggered"),
    *("still_wrong_of_feedback", "still_wrong_of_items", "fixed", "broken", "net"),
)
_NEEDS_FEEDBACK = (
    *("feedback_useful", "model_correction"),
    *("still_wrong_of_feedback", "still_wrong_of_items"),
)


def model_items(study: Study, configuration: str) -> list[Record]:
    """Return the configuration's items, except those with retrieved scripts, which are not the model's work."""
    return [
        item
        for item in study.items
        if item["configuration"] == configuration and item.get("made") != "retrieved"
    ]


def do_repeat(items: list[Record]) -> bool:
    """Return whether multiple items have the same statement."""
    return len({item["statement"] for item in items}) < len(items)


def missing(finals: Finals, items: list[Record], name: str) -> bool:
    """Return whether every item of the configuration lacks the figure's object and cannot receive it later."""

    def has(stage: str) -> bool:
        return any(finals.outcome(item, stage, "strict") != ABSENT for item in items)

    if name in _NEEDS_VERDICT and not any(verdict_of(item) for item in items):
        return True
    if name in _NEEDS_REFINED and not has("refined"):
        return True
    if name in _NEEDS_FEEDBACK and not has("feedback"):
        return True
    if name == "overall_as_recommended":
        return not any(recommended_stage(item) for item in items)
    return name == "execution_agreement" and all(item.get("execution") is None for item in items)


def figures_of(finals: Finals, configuration: str, criterion: str) -> dict[str, dict[str, Any]]:
    """Return each figure by name."""
    items = model_items(finals.study, configuration)
    ends = [(item, finals.ends(item, criterion)) for item in items]
    found = {}
    for name in FIGURES:
        if missing(finals, items, name):
            empty = dict.fromkeys(("value", "low", "high", "bounds", "range", "post_stratified"))
            found[name] = {"numerator": 0, "denominator": 0, "reason": NOT_PART, **empty}
        else:
            found[name] = figure_of(
                finals,
                FIGURES[name],
                criterion,
                ends,
                is_net=name == "net",
                repeats=do_repeat(items),
            )
            found[name]["beside"] = beside_of(
                finals, name, items, criterion, repeats=do_repeat(items)
            )
    return found


Ends = list[tuple[Record, list[End]]]


def figure_of(
    finals: Finals,
    brings: Callable[[Record, End], Part],
    criterion: str,
    ends: Ends,
    *,
    is_net: bool = False,
    repeats: bool,
) -> dict[str, Any]:
    """Return a share or a net figure, with the counts next to it."""
    closed: list[tuple[Record, Part]] = []
    scored: list[set[Part]] = []
    everything: list[set[Part]] = []
    strata: dict[tuple[bool, bool], list[set[Part]]] = defaultdict(list)
    waiting: list[str] = []
    for item, ways in ends:
        parts = {brings(item, end) for end in ways}
        everything.append(parts)
        script = finals.final(item, "script", criterion)
        if script not in (RIGHT, WRONG):
            if parts != {NOTHING}:
                waiting.append(script)
            continue
        scored.append(parts)
        strata[script == RIGHT, is_flagged(item)].append(parts)
        if len(parts) == 1:
            closed.append((item, next(iter(parts))))
        else:
            waiting.append(_why_open(finals, item, ways, brings, criterion))
    used = [(item, part) for item, part in closed if part[1]]
    made: dict[str, Any] = {
        **share_of([(item["statement"], part[0]) for item, part in used], repeats=repeats),
        "reason": None if used else NOTHING_YET,
        "open": len(waiting),
        "scored_open": len(scored) - len(closed),
        "unresolved": waiting.count(UNRESOLVED),
        "pending": waiting.count(PENDING),
        "bounds": bounds(everything, is_net=is_net),
        "range": None,
        "post_stratified": None,
    }
    if len(closed) < len(scored):
        made["range"] = bounds(scored, is_net=is_net)
        made["post_stratified"] = post_stratified(list(strata.values()))
    if is_net:
        pairs = [_before_and_after(finals, item, criterion, part) for item, part in used]
        interval, made["deff"] = paired_interval(pairs, repeats=repeats)
        made["low"], made["high"] = interval or (None, None)
        values = [part[0] for _item, part in used]
        is_told = values and made["open"] <= MOST_OPEN * (made["open"] + len(values))
        made["p_value"] = mcnemar(values.count(-1), values.count(1)) if is_told else None
    return made


def _why_open(
    finals: Finals,
    item: Record,
    ways: list[End],
    brings: Callable[[Record, End], Part],
    criterion: str,
) -> str:
    """Return UNRESOLVED if adjudicating a single stage can change the item's contribution, else PENDING."""
    for stage in ways[0]:
        if stage in ("script", VERDICT, RECOMMENDED) or not finals.is_unresolved(
            item, stage, criterion
        ):
            continue
        alike: dict[tuple[tuple[str, str], ...], set[Part]] = defaultdict(set)
        for end in ways:
            rest = tuple((name, value) for name, value in end.items() if name != stage)
            alike[rest].add(brings(item, end))
        if any(len(parts) > 1 for parts in alike.values()):
            return UNRESOLVED
    return PENDING


def _before_and_after(
    finals: Finals, item: Record, criterion: str, part: Part
) -> tuple[str, int, int]:
    before = int(finals.final(item, "script", criterion) == RIGHT)
    return item["statement"], before, before + part[0]
