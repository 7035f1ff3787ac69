"""Two Configurations on the same cases: the paired difference, on items that are final in both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from review.study.criteria import Outlook, look_at
from review.study.definitions import FIGURES
from review.study.intervals import Difference
from review.study.translation import mark as _
from review.study.types import Criterion, ItemPattern, Origin

TEXT = _(
    "Only cases that are final in both Configurations: the share that is right under the second, less that "
    "under the first, with Newcombe’s interval for paired shares and McNemar’s exact p value."
)
# Those that ask something of every scored item, so that two Configurations answer about the same cases.
COMPARED = (
    "first_pass_accuracy",
    "assessor_agreement",
    "overall_expert_triggered",
    "overall_assessor_triggered",
    "overall_as_recommended",
    "execution_agreement",
)
_BY_NAME = {figure.name: figure for figure in FIGURES}
_Answers = tuple[bool | None, ...]  # one for each of COMPARED


@dataclass(frozen=True)
class Comparison:
    """One figure of a second Configuration against a first. `left_out` cases are not final in both."""

    name: str
    change: Difference
    left_out: int


def reduce_pattern(pattern: ItemPattern) -> ItemPattern:
    """The pattern without what no comparison asks for, so that few joint patterns are to be kept."""
    return ItemPattern(
        script=pattern.script,
        refined=pattern.refined,
        verdict=pattern.verdict,
        # A failed Run counts as wrong, a retrieved one not at all; else it is all the same here.
        origin=pattern.origin
        if pattern.origin in (Origin.FAILED, Origin.RETRIEVED)
        else Origin.MADE,
        has_refined=pattern.has_refined,
        recommended=pattern.recommended,
        execution=pattern.execution,
    )


def compare(
    joint: Mapping[tuple[ItemPattern, ItemPattern], int], criterion: Criterion
) -> dict[str, Comparison]:
    """Every compared figure, from how many cases have which pattern under the first and under the second."""
    counted: Counter[tuple[_Answers, _Answers]] = Counter()
    for (first, second), times in joint.items():
        counted[_answer(first, criterion), _answer(second, criterion)] += times
    return {
        name: _compare(
            name, ((before[place], after[place], n) for (before, after), n in counted.items())
        )
        for place, name in enumerate(COMPARED)
    }


def _compare(name: str, counted: Iterable[tuple[bool | None, bool | None, int]]) -> Comparison:
    cells: Counter[tuple[bool, bool]] = Counter()
    left_out = 0
    for before, after, times in counted:
        if before is None or after is None:
            left_out += times
        else:
            cells[before, after] += times
    change = Difference.of(
        both=cells[True, True],
        lost=cells[True, False],
        gained=cells[False, True],
        neither=cells[False, False],
    )
    return Comparison(name, change, left_out)


# Many cases have one of few patterns, and the number of these is bounded.
@lru_cache(maxsize=16_384)
def _answer(pattern: ItemPattern, criterion: Criterion) -> _Answers:
    """Whether such items are right by each compared figure; None where that is not final."""
    outlook = look_at(pattern, criterion)
    return tuple(_answer_one(name, outlook) for name in COMPARED)


def _answer_one(name: str, one: Outlook) -> bool | None:
    definition, seen = _BY_NAME[name], one.plain
    is_open = definition.beside.get("pending")
    if (
        seen.pattern.origin is Origin.RETRIEVED
        or one.hangs(definition.part)
        or (is_open is not None and is_open(seen))
    ):
        return None
    added = definition.part(seen)
    return None if added is None else bool(added)
