"""Compares two Configurations on the same cases: the paired difference, on items that are final in both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from core.translation import gettext_noop as _
from review.study.criteria import Outlook
from review.study.definitions import FIGURES
from review.study.statistics.intervals import Cluster, Difference
from review.study.types import Criterion, ItemPattern, Origin

TEXT = _(
    "Comparisons use only cases that are final in both configurations. The difference is the "
    "proportion right under the second configuration minus the proportion right under the first, "
    "with Newcombe’s interval for paired proportions. The exact p value comes from a sign-flip "
    "test over whole statements, which is McNemar’s test if no statement is repeated. The p value "
    "of the primary comparison is not adjusted. All other p values of the report are one family, "
    "fixed when the study opens, and are shown with their Holm-adjusted values. There is no "
    "comparison while more than 5% of the cases are open in either configuration, or while no "
    "reviewer has scored one of the two."
)
# Figures that cover every scored item, so that two Configurations have results for the same cases.
COMPARED = (
    "first_pass_accuracy",
    "assessor_agreement",
    "overall_expert_triggered",
    "overall_assessor_triggered",
    "overall_as_recommended",
    "execution_agreement",
)
MOST_OPEN = 0.05
TOO_MANY_OPEN = "more than 5% open"
NO_SCORES = "no reviewer has scored one of the two"
_BY_NAME = {figure.name: figure for figure in FIGURES}
# For each compared figure, whether such an item is right; OPEN while it waits for a score, None if the figure does
# not apply.
OPEN = 2
_Answers = tuple[int | None, ...]
Pair = tuple[ItemPattern, ItemPattern]  # a case under the first and under the second Configuration
# The number of statements by their cases, in order.
Joint = Mapping[tuple[Pair, ...], int]


@dataclass(frozen=True)
class Comparison:
    """One figure of a second Configuration compared with a first.

    `left_out` cases are not final in both. The `open` ones among them still wait for a score at some stage. With more
    than 5% open cases, or without a reviewer's score on either side, a `reason` replaces the difference.
    """

    name: str
    change: Difference
    left_out: int
    open: int
    reason: str = ""

    def as_json(self) -> dict[str, object]:
        return {
            **vars(self.change),
            "left_out": self.left_out,
            "open": self.open,
            "reason": self.reason or None,
            # Whether a comparison is possible. A figure that neither Configuration has is in no family of p values.
            "is_part": bool(self.change.items or self.open),
            "is_primary": False,
        }


def reduce_pattern(pattern: ItemPattern) -> ItemPattern:
    """Return the pattern without the parts that no comparison uses, so that fewer joint patterns are stored."""
    return ItemPattern(
        script=pattern.script,
        refined=pattern.refined,
        verdict=pattern.verdict,
        # A failed Run counts as wrong, and a retrieved script is not counted. Other origins are equal here.
        origin=pattern.origin
        if pattern.origin in (Origin.FAILED, Origin.RETRIEVED)
        else Origin.MADE,
        recommended=pattern.recommended,
        advised=pattern.advised,
        is_running=pattern.is_running,
        is_same=pattern.is_same,
        execution=pattern.execution,
    )


def compare(joint: Joint, criterion: Criterion) -> dict[str, Comparison]:
    """Return every compared figure, from the number of statements with the same patterns in both Configurations."""
    counted: Counter[tuple[tuple[_Answers, _Answers], ...]] = Counter()
    for cases, times in joint.items():
        answers = ((_answer(one, criterion), _answer(two, criterion)) for one, two in cases)
        counted[tuple(answers)] += times
    repeats = any(len(cases) > 1 for cases, times in joint.items() if times)
    is_scored = all(
        any(
            pair[side].origin is not Origin.FAILED
            and pair[side].script.right(criterion) is not None
            for cases, times in joint.items()
            if times
            for pair in cases
        )
        for side in (0, 1)
    )
    return {
        name: _compare(
            name,
            repeats,
            is_scored,
            [
                ([(before[place], after[place]) for before, after in cases], times)
                for cases, times in counted.items()
            ],
        )
        for place, name in enumerate(COMPARED)
    }


def _compare(
    name: str,
    repeats: bool,
    is_scored: bool,
    counted: Iterable[tuple[list[tuple[int | None, int | None]], int]],
) -> Comparison:
    cells: Counter[tuple[int, int]] = Counter()
    statements: Counter[tuple[int, int]] = Counter()
    left_out = is_open = 0
    for cases, times in counted:
        moved = size = 0
        for before, after in cases:
            if before is not None and after is not None and OPEN not in (before, after):
                cells[before, after] += times
                moved, size = moved + after - before, size + 1
                continue
            left_out += times
            is_open += times * (OPEN in (before, after) and None not in (before, after))
        if size:
            statements[moved, size] += times
    closed = sum(cells.values())
    has_too_many = is_open > MOST_OPEN * (closed + is_open)
    if has_too_many or (closed and not is_scored):
        nothing = Difference(0, 0, closed, None, None, None, None)
        reason = TOO_MANY_OPEN if has_too_many else NO_SCORES
        return Comparison(name, nothing, left_out, is_open, reason)
    clusters: list[Cluster] = [(*key, times) for key, times in statements.items()]
    change = Difference.of(
        both=cells[1, 1],
        lost=cells[1, 0],
        gained=cells[0, 1],
        neither=cells[0, 0],
        clusters=clusters if repeats else None,
    )
    return Comparison(name, change, left_out, is_open)


# Many cases share a few patterns, whose number is bounded.
@lru_cache(maxsize=16_384)
def _answer(pattern: ItemPattern, criterion: Criterion) -> _Answers:
    """Return whether such items are right by each compared figure."""
    if pattern.origin is Origin.RETRIEVED:
        return (None,) * len(COMPARED)
    outlook = Outlook(pattern, criterion)
    return tuple(_answer_one(name, outlook) for name in COMPARED)


def _answer_one(name: str, outlook: Outlook) -> int | None:
    part = _BY_NAME[name].part
    return OPEN if outlook.is_open(part) else outlook.closed(part)
