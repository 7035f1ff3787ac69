"""The family of p values for Holm's correction, fixed when the campaign opens.

The family contains every possible comparison. A comparison is removed only if the study has no data of its kind, such
as no assessor or no refined scripts. All other comparisons remain in the family, even without a p value.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import combinations
from typing import NamedTuple

from review.study.compare import COMPARED
from review.study.definitions import FIGURES, Object
from review.study.types import Criterion

NET = "net"
# Refinements from experts' feedback compared with refinements from the model's feedback, without and with the scores
# by the author of the feedback.
EXPERT = ("expert", "expert_by_all")
# Refined scripts scored as first Drafts, compared with their usual scores, over all Configurations.
HALO = "halo"
_NEEDS = {one.name: frozenset(one.needs) for one in FIGURES}


class Hypothesis(NamedTuple):
    """A comparison of two Configurations, in alphabetical order.

    `second` is empty for a comparison within one Configuration. Both are empty for a comparison over all
    Configurations.
    """

    figure: str
    criterion: str
    first: str
    second: str = ""


def between(figure: str, criterion: str, names: Iterable[str]) -> Hypothesis:
    """Return the hypothesis for a comparison of two Configurations, given in any order."""
    first, second = sorted(names)
    return Hypothesis(figure, criterion, first, second)


def plan_family(arms: Iterable[str], *, has_halo: bool = False) -> list[Hypothesis]:
    """Return every comparison that a report on these Configurations can contain.

    `has_halo` adds the comparison of the halo check.
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
    """Return the planned hypotheses that remain in the family without a p value.

    These hypotheses are not in `found`, but the study has the data for them. `objects` contains the objects that exist
    in each Configuration. Comparisons of experts' refinements are in the family only if they were made, because
    feedback by reviewers is voluntary.
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
