"""The family of p values that Holm's correction is over: fixed when the campaign opens, by what can be compared.

Which p values are looked at later changes nothing of it. What the study turns out to have none of (an assessor, a
refined script) has no p value to be in it; all else stays in it, also where no p value came of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import combinations
from typing import NamedTuple

from review.study.compare import COMPARED
from review.study.definitions import FIGURES, Object
from review.study.types import Criterion

NET = "net"
# Refinements from an expert's feedback against the model's, without and with that feedback's author.
EXPERT = ("expert", "expert_by_all")
# Refined scripts scored as if they were first ones, against their usual scores: of all Configurations together.
HALO = "halo"
_NEEDS = {one.name: frozenset(one.needs) for one in FIGURES}


class Hypothesis(NamedTuple):
    """One comparison: of two Configurations, the lower name first, or within one, where `second` is empty; of all
    together, where both are.
    """

    figure: str
    criterion: str
    first: str
    second: str = ""


def between(figure: str, criterion: str, names: Iterable[str]) -> Hypothesis:
    """The comparison of two Configurations, whichever way it is turned."""
    first, second = sorted(names)
    return Hypothesis(figure, criterion, first, second)


def plan_family(arms: Iterable[str], *, has_halo: bool = False) -> list[Hypothesis]:
    """Every comparison that the report of a study of these Configurations can make; that of the halo check where a
    share of the refined scripts is wanted for it.
    """
    names = sorted(arms)
    return [
        found
        for criterion in Criterion
        for found in (
            *(Hypothesis(name, criterion.value, arm) for arm in names for name in (NET, *EXPERT)),
            *(
                between(name, criterion.value, pair)
                for pair in combinations(names, 2)
                for name in COMPARED
            ),
            *([Hypothesis(HALO, criterion.value, "")] if has_halo else []),
        )
    ]


def settle_family(
    planned: Iterable[Hypothesis],
    found: Collection[Hypothesis],
    objects: Mapping[str, frozenset[Object]],
) -> list[Hypothesis]:
    """Those that are in the family with no p value of their own: planned, of what the study has, and not `found`.

    `objects` says what exists in each Configuration. Experts' refinements exist where one was compared: whether
    there will be any hangs on what reviewers write, and no rule of a study says it.
    """
    return [
        one
        for one in planned
        if one not in found
        and one.figure not in EXPERT
        and all(
            name in objects and _NEEDS[one.figure] <= objects[name]
            for name in (one.first, one.second)
            if name
        )
    ]
