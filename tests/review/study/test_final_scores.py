"""The final score of a stage."""

from __future__ import annotations

from itertools import permutations

import pytest

from review.study.final_scores import final_of
from review.study.types import FinalScore


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        pytest.param((), FinalScore.UNSCORED, id="nobody scored"),
        pytest.param((1,), FinalScore.PARTIAL, id="one reviewer"),
        pytest.param((2, 2), FinalScore.CORRECT, id="both agree"),
        pytest.param((0, 2), FinalScore.UNRESOLVED, id="the middle of 0 and 2 was given by nobody"),
        pytest.param((0, 1), FinalScore.BELOW, id="wrong under strict, a tie under partial"),
        pytest.param((1, 2), FinalScore.ABOVE, id="a tie under strict, right under partial"),
        pytest.param((0, 0, 2), FinalScore.INCORRECT, id="two of three"),
        pytest.param((0, 1, 2), FinalScore.PARTIAL, id="three scores never tie"),
        pytest.param(
            (0, 1, 1, 2), FinalScore.PARTIAL, id="three of four are wrong, and partly right"
        ),
        pytest.param((0, 0, 1, 1), FinalScore.BELOW, id="two against two, both wrong under strict"),
        pytest.param((0, 0, 2, 2), FinalScore.UNRESOLVED, id="two against two, far apart"),
        pytest.param(
            (0, 0, 1, 2), FinalScore.BELOW, id="three of four are wrong, half partly right"
        ),
        pytest.param((0, 1, 2, 2), FinalScore.ABOVE, id="half right, three of four partly right"),
        pytest.param(
            (0, 0, 1, 2, 2), FinalScore.PARTIAL, id="three of five wrong, three partly right"
        ),
        pytest.param((0, 0, 0, 2, 2), FinalScore.INCORRECT, id="three of five"),
    ],
)
def test_a_final_score_in_any_order_of_reviewers(
    values: tuple[int, ...], expected: FinalScore
) -> None:
    assert {final_of(order) for order in permutations(values)} == {expected}


def test_the_adjudicated_score_stands_above_all() -> None:
    assert final_of((0, 0, 0), adjudicated=2) is FinalScore.CORRECT
    assert final_of((), adjudicated=0) is FinalScore.INCORRECT
    assert final_of((0,), adjudicated=1, is_complete=False) is FinalScore.PARTIAL


def test_scored_by_some_of_those_asked_it_is_pending() -> None:
    assert final_of((2, 2), is_complete=False) is FinalScore.PENDING
    assert final_of((), is_complete=False) is FinalScore.UNSCORED
