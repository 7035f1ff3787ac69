"""Recount the report's other tables: progress, assessor, gain, feedback lengths, experts and skipped items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from tests.review.study.recount.figures import do_repeat, figure_of, model_items
from tests.review.study.recount.finals import (
    ABSENT,
    CRITERIA,
    OPEN,
    PENDING,
    RIGHT,
    UNRESOLVED,
    WRONG,
    End,
    Finals,
    Reading,
    expert_final,
)
from tests.review.study.recount.intervals import Part, change_of, share_of
from tests.review.study.recount.records import (
    STAGES,
    Record,
    Study,
    is_failed,
    is_flagged,
    stage_of_round,
    verdict_of,
)

VERDICTS = ("correct", "incorrect", "unknown", "never_assessed")
# The maximum number of words in each class of feedback. None means unlimited.
LENGTHS = (20, 40, 80, 160, None)
Table = dict[str, Any]


def tables_of(finals: Finals, configuration: str, criterion: str) -> Table:
    """Return every table of a configuration under a criterion, by its key in the report."""
    items = model_items(finals.study, configuration)
    return {
        "assessor": _card(finals, items, criterion),
        "expert": expert_row(finals, configuration, criterion, with_authors=False),
        "expert_by_all": expert_row(finals, configuration, criterion, with_authors=True),
        "gain": _gain(finals, items, criterion),
        "lengths": _lengths(finals, items, criterion),
        "retrieved": _retrieved(finals, configuration, criterion),
        "skipped": _skipped(finals, items, criterion),
    }


def standings_of(finals: Finals, configuration: str) -> Table:
    """Count a configuration's items by the state of their script, under both criteria."""
    items = model_items(finals.study, configuration)
    every = [one for one in finals.study.items if one["configuration"] == configuration]
    said = [{finals.final(one, "script", criterion) for criterion in CRITERIA} for one in items]
    pending = [item for item, values in zip(items, said, strict=True) if values == {PENDING}]
    scored = [item for item in pending if _was_scored(finals, item)]
    return {
        "all": len(every),
        "scored": sum(bool(values & {RIGHT, WRONG}) for values in said),
        "pending": len(scored),
        "unresolved": sum(UNRESOLVED in values for values in said),
        "unscored": len(pending) - len(scored),
        "failed": sum(map(is_failed, items)),
        "retrieved": len(every) - len(items),
    }


def _was_scored(finals: Finals, item: Record) -> bool:
    given = finals.given(item, "script").values()
    return any(not one.get("undone_at") for scores in given for one in scores)


def time_of(study: Study, configuration: str) -> Table:
    """Return the items with a known time and their reviewers' seconds, rounded per item."""
    found = [
        sum(study.seconds[key])
        for item in study.items
        if (key := (item["id"], item["configuration"])) in study.seconds
        and item["configuration"] == configuration
    ]
    return {"items": len(found), "seconds": sum(map(round, found))}


def not_blind_of(study: Study) -> Counter[tuple[str, str, str, int]]:
    """Count the scores excluded because more was visible, by configuration, stage, verdict and value."""
    found: Counter[tuple[str, str, str, int]] = Counter()
    if not study.hides_verdict:
        return found
    from_all, from_blind = Finals(study, Reading(with_not_blind=True)), Finals(study)
    for item in study.items:
        for stage in STAGES:
            blind = from_blind.counting(item, stage)
            for reviewer, value in from_all.counting(item, stage).items():
                if reviewer not in blind:
                    verdict = verdict_of(item) or "never_assessed"
                    found[item["configuration"], stage, verdict, value] += 1
    return found


def _script_is(finals: Finals, item: Record, criterion: str, value: str) -> bool:
    return finals.final(item, "script", criterion) == value


def _card(finals: Finals, items: list[Record], criterion: str) -> Table:
    """Return the scored items by verdict, with the missed errors and false alarms among items with a verdict."""
    found: Table = {}
    for name, value in (("right", RIGHT), ("wrong", WRONG)):
        own = [item for item in items if _script_is(finals, item, criterion, value)]
        counts = Counter(verdict_of(item) or "never_assessed" for item in own)
        found[name] = {verdict: counts[verdict] for verdict in VERDICTS}
    for name, value, verdict in (
        ("missed", WRONG, "correct"),
        ("false_alarms", RIGHT, "incorrect"),
    ):
        judged = [
            (item["statement"], verdict_of(item) == verdict)
            for item in items
            if _script_is(finals, item, criterion, value)
            and verdict_of(item) in ("correct", "incorrect")
        ]
        found[name] = share_of(judged, repeats=do_repeat(items))
    return found


def expert_row(finals: Finals, configuration: str, criterion: str, *, with_authors: bool) -> Table:
    """Compare refinements from experts' feedback with those from the model's, paired, on items that have both."""
    items, pairs = model_items(finals.study, configuration), []
    for item in items:
        model = finals.outcome(item, "refined", criterion)
        expert = expert_final(finals.study, item, criterion, with_authors=with_authors)
        if model in (RIGHT, WRONG) and expert in (RIGHT, WRONG):
            pairs.append((item["statement"], int(model == RIGHT), int(expert == RIGHT)))
    repeats = do_repeat(items)
    return {
        "model": share_of([(name, model) for name, model, _expert in pairs], repeats=repeats),
        "expert": share_of([(name, expert) for name, _model, expert in pairs], repeats=repeats),
        "change": change_of(pairs, repeats=repeats),
    }


def _gain(finals: Finals, items: list[Record], criterion: str) -> list[Table]:
    """Return both overall figures after each round, with a range if items are open."""
    scored = [item for item in items if finals.final(item, "script", criterion) in (RIGHT, WRONG)]
    rounds = max([1, *(one["round"] for item in scored for one in item.get("later") or ())])
    rows = []
    for last in range(rounds + 1):
        stages = [stage_of_round(round_) for round_ in range(1, last + 1)]
        ends = [(item, finals.ends(item, criterion, stages=stages)) for item in items]
        drafts = [item for item in scored if not stages or finals.exists(item, stages[-1])]
        rows.append(
            {
                "round": last,
                "drafts": len(drafts),
                **{
                    name: figure_of(
                        finals, brings(stages), criterion, ends, repeats=do_repeat(items)
                    )
                    for name, brings in (("by_expert", _by_expert), ("by_assessor", _by_assessor))
                },
            }
        )
    return rows


def _by_expert(stages: list[str]) -> Callable[[Record, End], Part]:
    """Return a function that counts an item if its script or any refinement is right.

    An expert requests refinements until one is right.
    """
    return lambda _item, end: (int(RIGHT in [end[name] for name in ("script", *stages)]), 1)


def _by_assessor(stages: list[str]) -> Callable[[Record, End], Part]:
    """Return a function that counts an item if the newest draft requested by the assessor's flags is right."""

    def brings(item: Record, end: End) -> Part:
        made = [name for name in stages if end[name] != ABSENT]
        return int(end[made[-1] if made and is_flagged(item) else "script"] == RIGHT), 1

    return brings


def _whole_share(given: list[tuple[str, bool]], *, repeats: bool) -> Table:
    """Return a share. It has no interval if statements repeat, because the report's input lacks the statements."""
    found = share_of(given, repeats=repeats)
    return found | {"low": None, "high": None} if repeats else found


def _lengths(finals: Finals, items: list[Record], criterion: str) -> list[Table]:
    """Return the corrected share of the wrong first drafts with model feedback, by the feedback's number of words."""
    classes: list[list[tuple[str, bool]]] = [[] for _ in LENGTHS]
    unscored = [0 for _ in LENGTHS]
    for item in items:
        text = item.get("feedback")
        is_about = text and not item.get("no_error_found")
        if not (is_about and _script_is(finals, item, criterion, WRONG)):
            continue
        words = len(str(text).split())
        place = next(n for n, most in enumerate(LENGTHS) if most is None or words <= most)
        refined = finals.outcome(item, "refined", criterion)
        if refined == OPEN:
            unscored[place] += 1
        else:
            classes[place].append((item["statement"], refined == RIGHT))
    return [
        {
            "least": LENGTHS[place - 1] + 1 if place else 0,  # type: ignore[operator]
            "most": most,
            "fixed": _whole_share(classes[place], repeats=do_repeat(items)),
            "unscored": unscored[place],
        }
        for place, most in enumerate(LENGTHS)
    ]


def _retrieved(finals: Finals, configuration: str, criterion: str) -> Table:
    """Return the separate row for retrieved scripts."""
    items = [
        item
        for item in finals.study.items
        if item["configuration"] == configuration and item.get("made") == "retrieved"
    ]
    scored = [
        (item["statement"], _script_is(finals, item, criterion, RIGHT))
        for item in items
        if finals.final(item, "script", criterion) in (RIGHT, WRONG)
    ]
    return share_of(scored, repeats=do_repeat(items))


def _skipped(finals: Finals, items: list[Record], criterion: str) -> Table:
    """Return first-pass accuracy if all skipped items without a final score were wrong, and if all were right."""
    found = {}
    for taken_as in (WRONG, RIGHT):
        values = []
        for item in items:
            script = finals.final(item, "script", criterion)
            if (item["id"], item["configuration"]) in finals.study.passed_over:
                script = script if script in (RIGHT, WRONG) else taken_as
            if script in (RIGHT, WRONG):
                values.append((item["statement"], script == RIGHT))
        found[taken_as] = _whole_share(values, repeats=do_repeat(items))
    return found
