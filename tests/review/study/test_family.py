"""The family of p values is fixed by what can be compared, not by what is looked at."""

from __future__ import annotations

from review.study.definitions import Object
from review.study.family import Hypothesis, between, plan_family, settle_family

EVERYTHING = frozenset(Object)


def test_two_configurations_have_all_comparisons_under_both_criteria() -> None:
    planned = plan_family(["small", "large"])

    assert len(planned) == len(set(planned)) == 2 * (6 + 2 * 3)
    assert between("first_pass_accuracy", "strict", ("small", "large")) in planned
    assert Hypothesis("net", "partial", "large") in planned


def test_what_has_no_p_value_stays_in_the_family_unless_the_study_has_none_of_it() -> None:
    planned = plan_family(["large", "small"])
    found = {Hypothesis("net", "strict", "large")}
    every = settle_family(planned, found, {"large": EVERYTHING, "small": EVERYTHING})
    without_assessor = settle_family(
        planned, found, {"large": EVERYTHING, "small": frozenset({Object.REFINED})}
    )

    # Experts' refinements are not planned: they are in it where there are some.
    assert len(every) == 2 * (6 + 2) - 1
    assert {one.figure for one in without_assessor if one.second} == {
        *("first_pass_accuracy", "overall_expert_triggered"),
    }
    assert settle_family(planned, found, {}) == []
