"""The family of p values for Holm's correction, determined by the possible comparisons when the campaign opens.

The p values that are viewed later do not change the family. A comparison leaves it only if the study turns out to have
no data of that kind, such as no assessor or no refined script. All other comparisons stay, even if they have no p
value.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import combinations
from typing import NamedTuple

from review.study.compare import COMPARED
from review.study.definitions import FIGURES, Object
from review.study.types import Criterion

NET = "net"
# Refinements from experts' feedback compared with the model's refinements, without and with scores
# by the feedback's author.
EXPERT = ("expert", "expert_by_all")
# Refined scripts scored as first Drafts, compared with their usual scores, for all Configurations together.
HALO = "halo"
_NEEDS = {one.name: frozenset(one.needs) for one in FIGURES}


class Hypothesis(NamedTuple):
    """A comparison of two Configurations, the lower name first.

    `second` is empty for a comparison within one Configuration. Both are empty for a comparison over all Configurations
    together.
    """

    figure: str
    criterion: str
    first: str
    second: str = ""


def between(figure: str, criterion: str, names: Iterable[str]) -> Hypothesis:
    """Return the comparison of two Configurations, independent of their order."""
    first, second = sorted(names)
    return Hypothesis(figure, criterion, first, second)


def plan_family(arms: Iterable[str], *, has_halo: bool = False) -> list[Hypothesis]:
    """Return every comparison that the report of a study of these Configurations can make.

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
    """Return the hypotheses that are in the family without a p value of their own.

    These are planned, are not in `found`, and concern data that the study has. `objects` lists what exists in each
    Configuration. Experts' refinements count only if they were compared, because reviewers decide freely whether to
    write feedback.
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
