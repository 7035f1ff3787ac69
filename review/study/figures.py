"""Every figure of a Configuration from its counts of item patterns: share, interval, what stands beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from review.study.criteria import Outlook, Patterns, look_at, see
from review.study.definitions import FIGURES as FIGURES
from review.study.definitions import Definition
from review.study.intervals import Difference, Share
from review.study.types import Criterion, ItemPattern, Origin, Standing

EXECUTION_REASONS = ("different_interpretation", "too_strict", "wrong_expected_output", "other")
NOT_SAID = "not_said"
_BY_NAME = {figure.name: figure for figure in FIGURES}


@dataclass(frozen=True)
class Figure:
    """A figure as the report shows it. `unresolved` items are left out of it; its value if all that is
    unresolved were right, or wrong, stands beside it.
    """

    definition: Definition
    share: Share
    unresolved: int
    if_right: float | None
    if_wrong: float | None
    beside: dict[str, object]

    def as_json(self) -> dict[str, object]:
        return {
            **self.share.as_json(),
            **self.beside,
            "unresolved": self.unresolved,
            "value_if_unresolved_right": self.if_right,
            "value_if_unresolved_wrong": self.if_wrong,
        }


def work_out_figures(patterns: Patterns) -> dict[Criterion, dict[str, Figure]]:
    """Every figure under both criteria, by name and in the order of the report.

    Items whose first Draft was retrieved enter none of them.
    """
    models, executed = _reduce(patterns)
    return {criterion: _work_out(models, executed, criterion) for criterion in Criterion}


def patterns_behind(
    patterns: Patterns, name: str, criterion: Criterion, *, only_numerator: bool = False
) -> Iterator[ItemPattern]:
    """The patterns whose items a figure is about, or that its numerator counts; raises KeyError for no figure."""
    part = _BY_NAME[name].part
    for pattern in patterns:
        if pattern.origin is not Origin.RETRIEVED:
            added = part(see(pattern, criterion))
            if added or (added is not None and not only_numerator):
                yield pattern


class _Sums(NamedTuple):
    numerator: int
    denominator: int
    if_right: float | None
    if_wrong: float | None
    unresolved: int
    beside: dict[str, int]


def _work_out(models: Patterns, executed: Patterns, criterion: Criterion) -> dict[str, Figure]:
    sums = _sum_up(models, criterion)
    sums["execution_agreement"] = _sum_up(executed, criterion)["execution_agreement"]
    figures = {}
    for definition in FIGURES:
        own = sums[definition.name]
        beside: dict[str, object] = dict(own.beside)
        if definition.name == "first_pass_accuracy":
            beside["repaired_as_wrong"] = _repaired_as_wrong(own).as_json()
        if definition.name == "execution_agreement":
            beside["reasons"] = _reasons(definition, executed, criterion)
        if definition.name == "net":
            share, beside["p_value"] = _net(sums)
        else:
            share = Share.of(own.numerator, own.denominator)
        figures[definition.name] = Figure(
            definition, share, own.unresolved, own.if_right, own.if_wrong, beside
        )
    return figures


def _reduce(patterns: Patterns) -> tuple[Patterns, Patterns]:
    """What the figures ask, execution apart from the rest: few patterns, whatever else tells items apart."""
    models: Counter[ItemPattern] = Counter()
    executed: Counter[ItemPattern] = Counter()
    for pattern, times in patterns.items():
        if pattern.origin is Origin.RETRIEVED:
            continue
        models[ItemPattern(*pattern[:7])] += times
        if pattern.execution is not None:
            reduced = ItemPattern(
                pattern.script,
                execution=pattern.execution,
                execution_reason=pattern.execution_reason,
            )
            executed[reduced] += times
    return models, executed


def _sum_up(patterns: Patterns, criterion: Criterion) -> dict[str, _Sums]:
    alike: Counter[ItemPattern] = Counter()
    values = _values_under(criterion)
    for pattern, times in patterns.items():
        script, feedback, refined = (values[standing] for standing in pattern[:3])
        alike[ItemPattern(script, feedback, refined, *pattern[3:])] += times
    rows = np.array([_row(pattern, criterion) for pattern in alike] or [(0,) * _WIDTH])
    sums: NDArray[np.int64] = np.array(list(alike.values()) or [0], dtype=np.int64) @ rows
    left = iter(sums.tolist())
    return {figure.name: _read(figure, left) for figure in FIGURES}


def _values_under(criterion: Criterion) -> dict[Standing, Standing]:
    """Right as correct and wrong as incorrect: what is alike under the criterion becomes one."""
    values = {True: Standing.CORRECT, False: Standing.INCORRECT}
    return {
        standing: standing if (right := standing.right(criterion)) is None else values[right]
        for standing in Standing
    }


# The number of different patterns is bounded, and so is the memory that this takes.
@lru_cache(maxsize=16_384)
def _row(pattern: ItemPattern, criterion: Criterion) -> tuple[int, ...]:
    """What one item adds to every sum behind every figure, in the order in which `_read` takes them."""
    outlook = look_at(pattern, criterion)
    return tuple(int(added) for figure in FIGURES for added in _added(figure, outlook))


def _added(figure: Definition, outlook: Outlook) -> Iterator[int]:
    for seen in outlook:
        part = figure.part(seen)
        yield part or 0
        yield part is not None
    yield outlook.hangs(figure.part)
    for asked in figure.beside.values():
        yield asked(outlook.plain)


_WIDTH = sum(7 + len(figure.beside) for figure in FIGURES)


def _read(figure: Definition, sums: Iterator[int]) -> _Sums:
    numerator, denominator = next(sums), next(sums)
    if_right = _quotient(next(sums), next(sums))
    if_wrong = _quotient(next(sums), next(sums))
    return _Sums(
        numerator,
        denominator,
        if_right,
        if_wrong,
        unresolved=next(sums),
        beside={key: next(sums) for key in figure.beside},
    )


def _quotient(numerator: int, denominator: int) -> float | None:
    return numerator / denominator if denominator else None


def _net(sums: dict[str, _Sums]) -> tuple[Share, float | None]:
    """Before is the first Draft, after the same with what refinement fixed and broke."""
    first, gained, lost = sums["first_pass_accuracy"], sums["fixed"], sums["broken"]
    change = Difference.of(
        both=first.numerator - lost.numerator,
        lost=lost.numerator,
        gained=gained.numerator,
        neither=first.denominator - first.numerator - gained.numerator,
    )
    net = Share(change.gained - change.lost, change.items, change.value, change.low, change.high)
    return net, change.p_value


def _repaired_as_wrong(first: _Sums) -> Share:
    return Share.of(first.numerator - first.beside["repaired_right"], first.denominator)


def _reasons(figure: Definition, executed: Patterns, criterion: Criterion) -> dict[str, int]:
    """Why execution and experts differ, by how many items; a reason not given is counted too."""
    reasons = dict.fromkeys((*EXECUTION_REASONS, NOT_SAID), 0)
    for pattern, times in executed.items():
        if figure.part(see(pattern, criterion)) is False:
            reasons[pattern.execution_reason or NOT_SAID] += times
    return reasons
