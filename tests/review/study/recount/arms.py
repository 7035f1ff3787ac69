"""Configurations against each other, on the cases that have ended under both, and the family of p values."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations
from typing import Any

from tests.review.study.recount.figures import FIGURES, NOTHING, Part, model_items
from tests.review.study.recount.finals import CRITERIA, RIGHT, WRONG, completions, final
from tests.review.study.recount.intervals import paired_interval, sign_flip
from tests.review.study.recount.records import Record, Study

COMPARED = (
    *("first_pass_accuracy", "assessor_agreement", "overall_expert_triggered"),
    *("overall_assessor_triggered", "overall_as_recommended", "execution_agreement"),
)
MOST_OPEN = 0.05


def comparisons_of(
    study: Study, pairs: list[tuple[str, str]]
) -> dict[tuple[str, str], dict[str, dict[str, Any]]]:
    """(first, second) to criterion to figure, for every two configurations, turned as the pairs are."""
    turned = {frozenset(pair): pair for pair in pairs}
    return {
        (first, second): {
            criterion: {name: _compare(study, first, second, name, criterion) for name in COMPARED}
            for criterion in CRITERIA
        }
        for first, second in (
            turned.get(frozenset(pair), pair) for pair in combinations(study.configurations, 2)
        )
    }


def _compare(study: Study, first: str, second: str, name: str, criterion: str) -> dict[str, Any]:
    others = {item["id"]: item for item in model_items(study, second)}
    pairs: list[tuple[str, int, int]] = []
    left_open, statements = 0, Counter[str]()
    for item in model_items(study, first):
        if item["id"] not in others:
            continue
        both = item, others[item["id"]]
        statements[item["statement"]] += 1
        if not all(final(study, one, "script", criterion) in (RIGHT, WRONG) for one in both):
            continue
        before, after = (_parts(study, one, name, criterion) for one in both)
        if {NOTHING} in (before, after):
            continue
        if len(before) > 1 or len(after) > 1:
            left_open += 1
        else:
            pairs.append((item["statement"], next(iter(before))[0], next(iter(after))[0]))
    is_made = left_open <= MOST_OPEN * (len(pairs) + left_open)
    if not (pairs and is_made):
        return {"items": len(pairs), "value": None, "low": None, "high": None, "p_value": None}
    differences: dict[str, int] = defaultdict(int)
    for statement, x, y in pairs:
        differences[statement] += y - x
    repeats = max(statements.values()) > 1
    interval, deff = paired_interval(pairs, repeats=repeats)
    return {
        "items": len(pairs),
        "value": sum(y - x for _s, x, y in pairs) / len(pairs),
        "low": interval and interval[0],
        "high": interval and interval[1],
        "deff": deff,
        "p_value": sign_flip(list(differences.values())),
    }


def _parts(study: Study, item: Record, name: str, criterion: str) -> set[Part]:
    return {FIGURES[name](item, *way) for way in completions(study, item, criterion)}
