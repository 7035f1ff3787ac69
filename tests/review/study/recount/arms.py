"""Compare configurations on the cases that ended under both, and recount the family of p values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import combinations
from typing import Any

from tests.review.study.recount.figures import FIGURES, MOST_OPEN, missing, model_items
from tests.review.study.recount.finals import CRITERIA, RIGHT, WRONG, Finals
from tests.review.study.recount.intervals import NOTHING, Part, change_of, holm
from tests.review.study.recount.records import Record, is_failed
from tests.review.study.recount.tables import expert_row

COMPARED = (
    *("first_pass_accuracy", "assessor_agreement", "overall_expert_triggered"),
    *("overall_assessor_triggered", "overall_as_recommended", "execution_agreement"),
)
EXPERT = ("expert", "expert_by_all")
TOO_MANY_OPEN = "more than 5% open"
NO_SCORES = "no reviewer has scored one of the two"
Compared = dict[tuple[str, str], dict[str, dict[str, dict[str, Any]]]]


def comparisons_of(finals: Finals, pairs: list[tuple[str, str]]) -> Compared:
    """Return the figures of each pair of configurations by criterion, in the order of `pairs`."""
    turned = {frozenset(pair): pair for pair in pairs}
    return {
        (first, second): {
            criterion: {name: _compare(finals, first, second, name, criterion) for name in COMPARED}
            for criterion in CRITERIA
        }
        for first, second in (
            turned.get(frozenset(pair), pair)
            for pair in combinations(finals.study.configurations, 2)
        )
    }


def _compare(finals: Finals, first: str, second: str, name: str, criterion: str) -> dict[str, Any]:
    others = {item["id"]: item for item in _every(finals, second)}
    pairs: list[tuple[str, int, int]] = []
    left_open = left_out = 0
    scored: set[int] = set()
    statements = Counter[str]()
    for item in _every(finals, first):
        if item["id"] not in others:
            continue
        both = item, others[item["id"]]
        statements[item["statement"]] += 1
        before, after = (_parts(finals, one, name, criterion) for one in both)
        finished = [finals.final(one, "script", criterion) in (RIGHT, WRONG) for one in both]
        scored |= {side for side in (0, 1) if finished[side] and not is_failed(both[side])}
        if all(finished) and len(before) == len(after) == 1 and NOTHING not in (*before, *after):
            pairs.append((item["statement"], next(iter(before))[0], next(iter(after))[0]))
            continue
        left_out += 1
        left_open += {NOTHING} not in (before, after)
    reason = None
    if left_open > MOST_OPEN * (len(pairs) + left_open):
        reason = TOO_MANY_OPEN
    elif pairs and len(scored) < 2:
        reason = NO_SCORES
    repeats = max(statements.values(), default=1) > 1
    change = change_of([] if reason else pairs, repeats=repeats)
    return {
        **change,
        "items": len(pairs),
        "left_out": left_out,
        "open": left_open,
        "reason": reason,
        "is_part": bool(pairs or left_open),
    }


def _every(finals: Finals, configuration: str) -> list[Record]:
    return [one for one in finals.study.items if one["configuration"] == configuration]


def _parts(finals: Finals, item: Record, name: str, criterion: str) -> set[Part]:
    """Return the possible contributions of an item. A retrieved item contributes nothing."""
    if item.get("made") == "retrieved":
        return {NOTHING}
    return {FIGURES[name](item, end) for end in finals.ends(item, criterion)}


Key = tuple[str, str, str, str]  # the figure, the criterion, one configuration, and another or ""


class Family:
    """All p values of a report. The primary p value is not adjusted. The others are adjusted with Holm's method."""

    def __init__(self, finals: Finals, compared: Compared, nets: dict[Key, float | None]) -> None:
        rules = finals.study.rules
        self._finals = finals
        found: dict[Key, float | None] = dict(nets)
        for pair, by_criterion in compared.items():
            for criterion, by_name in by_criterion.items():
                for name, one in by_name.items():
                    if one["is_part"]:
                        found[key_of(name, criterion, pair)] = one["p_value"]
        for configuration in finals.study.configurations:
            for criterion in CRITERIA:
                for name in EXPERT:
                    change = expert_row(
                        finals, configuration, criterion, with_authors=name != "expert"
                    )["change"]
                    if change["items"]:
                        found[name, criterion, configuration, ""] = change["p_value"]
        named = [rules.get("primary_first"), rules.get("primary_second")]
        self.primary: Key | None = None
        if all(named) and rules.get("primary_criterion"):
            key = key_of(rules["primary_figure"], rules["primary_criterion"], named)
            is_there = any(
                {*pair} == {*named} and key[0] in by_criterion[key[1]]
                for pair, by_criterion in compared.items()
            )
            self.primary = key if is_there else None
        self.p_primary = found.pop(self.primary, None) if self.primary else None
        self.found = found
        planned = {tuple(one) for one in finals.study.family or ()}
        fixed = planned - {
            key_of(
                rules.get("primary_figure") or "",
                rules.get("primary_criterion") or "",
                [one or "" for one in named],
            )
        }
        self.without = [one for one in fixed - found.keys() if self._is_possible(one)]
        self.not_foreseen = sum(
            one[0] in EXPERT and one[2] in finals.study.configurations
            for one in fixed - found.keys()
        )
        self.without_p = sum(one is None for one in found.values())
        self.later = len(found.keys() - planned) if planned else 0

    @property
    def size(self) -> int:
        return len(self.found) + len(self.without)

    def adjusted(self) -> dict[Key, float | None]:
        """Return Holm's adjusted value for each comparison. A missing p value counts as 1 and stays None."""
        every = [*self.found.values(), *(None for _one in self.without)]
        values = holm([1.0 if one is None else one for one in every])
        return {
            key: None if p_value is None else value
            for (key, p_value), value in zip(self.found.items(), values, strict=False)
        }

    def _is_possible(self, key: tuple[str, ...]) -> bool:
        """Return whether the study has the data for this comparison."""
        name, _criterion, *arms = key
        study = self._finals.study
        return name in FIGURES and all(
            arm in study.configurations and not missing(self._finals, model_items(study, arm), name)
            for arm in arms
            if arm
        )


def key_of(name: str, criterion: str, pair: Iterable[str]) -> Key:
    first, second = sorted(pair)
    return name, criterion, first, second
