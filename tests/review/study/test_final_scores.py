"""The final score of a stage."""

from __future__ import annotations

from itertools import permutations

import pytest

from review.study.final_scores import final_of
from review.study.types import Standing


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        pytest.param((), Standing.UNSCORED, id="nobody scored"),
        pytest.param((1,), Standing.PARTIAL, id="one reviewer"),
        pytest.param((2, 2), Standing.CORRECT, id="both agree"),
        pytest.param((0, 2), Standing.UNRESOLVED, id="the middle of 0 and 2 was given by nobody"),
        pytest.param((0, 1), Standing.BELOW, id="wrong under strict, a tie under partial"),
        pytest.param((1, 2), Standing.ABOVE, id="a tie under strict, right under partial"),
        pytest.param((0, 0, 2), Standing.INCORRECT, id="two of three"),
        pytest.param((0, 1, 2), Standing.PARTIAL, id="three scores never tie"),
        pytest.param(
            (0, 1, 1, 2), Standing.PARTIAL, id="three of four are wrong, and partly right"
        ),
        pytest.param((0, 0, 1, 1), Standing.BELOW, id="two against two, both wrong under strict"),
        pytest.param((0, 0, 2, 2), Standing.UNRESOLVED, id="two against two, far apart"),
        pytest.param((0, 0, 1, 2), Standing.BELOW, id="three of four are wrong, half partly right"),
        pytest.param((0, 1, 2, 2), Standing.ABOVE, id="half right, three of four partly right"),
        pytest.param(
            (0, 0, 1, 2, 2), Standing.PARTIAL, id="three of five wrong, three partly right"
        ),
        pytest.param((0, 0, 0, 2, 2), Standing.INCORRECT, id="three of five"),
    ],
)
def test_a_final_score_in_any_order_of_reviewers(
    values: tuple[int, ...], expected: Standing
) -> None:
    assert {final_of(order) for order in permutations(values)} == {expected}


def test_the_adjudicated_score_stands_above_all() -> None:
    assert final_of((0, 0, 0), adjudicated=2) is Standing.CORRECT
    assert final_of((), adjudicated=0) is Standing.INCORRECT
    assert final_of((0,), adjudicated=1, is_complete=False) is Standing.PARTIAL


def test_scored_by_some_of_those_asked_it_is_pending() -> None:
    assert final_of((2, 2), is_complete=False) is Standing.PENDING
    assert final_of((), is_complete=False) is Standing.UNSCORED
