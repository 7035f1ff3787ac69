"""Compare two Configurations: the paired difference on the cases that are final in both."""

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
# The figures that include every scored item, so two Configurations have results for the same cases.
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
# An answer is 1 (right), 0 (wrong), OPEN (waiting for a score) or None (the figure does not apply to the item).
OPEN = 2
_Answers = tuple[int | None, ...]
Pair = tuple[ItemPattern, ItemPattern]  # a case's items in the first and the second Configuration
# The number of statements by the patterns of their cases, in sorted order.
Joint = Mapping[tuple[Pair, ...], int]


@dataclass(frozen=True)
class Comparison:
    """The change in one figure from a first to a second Configuration.

    `left_out` counts the cases that are not final in both Configurations. Of these, `open` cases are waiting for a
    score. With more than 5% open cases, or if one Configuration has no scores, a `reason` replaces the difference.
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
            # Whether a comparison is possible. If not, the figure is not part of the family of p values.
            "is_part": bool(self.change.items or self.open),
            "is_primary": False,
        }


def reduce_pattern(pattern: ItemPattern) -> ItemPattern:
    """Return the pattern without data that comparisons do not use, to store fewer distinct patterns."""
    return ItemPattern(
        script=pattern.script,
        refined=pattern.refined,
        verdict=pattern.verdict,
        # A failed Run counts as wrong, and retrieved scripts are excluded. Other origins make no difference.
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
    """Return the comparison of each figure in COMPARED, by name."""
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


# Cached because many cases share the same patterns. The number of different patterns is bounded.
@lru_cache(maxsize=16_384)
def _answer(pattern: ItemPattern, criterion: Criterion) -> _Answers:
    """Return an item's answer for each figure in COMPARED."""
    if pattern.origin is Origin.RETRIEVED:
        return (None,) * len(COMPARED)
    outlook = Outlook(pattern, criterion)
    return tuple(_answer_one(name, outlook) for name in COMPARED)


def _answer_one(name: str, outlook: Outlook) -> int | None:
    part = _BY_NAME[name].part
    return OPEN if outlook.is_open(part) else outlook.closed(part)
