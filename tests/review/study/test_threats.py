"""Threats to validity: words, and the figures that report them."""

from __future__ import annotations

import pytest

from review.study import Criterion
from review.study.threats import THREATS, compare_halo, compare_repeats, share_by_quarter


def test_every_threat_of_the_study_is_answered_in_words() -> None:
    assert len({threat.key for threat in THREATS}) == len(THREATS) == 8
    for threat in THREATS:
        assert threat.text.startswith(("Prevented", "Recorded", "Reported"))


def test_halo_is_the_difference_to_the_score_without_the_diff() -> None:
    found = compare_halo({(2, 2): 6, (2, 0): 3, (2, 1): 1, (0, 2): 1}, Criterion.STRICT)

    assert (found.gained, found.lost, found.items) == (1, 4, 11)
    assert compare_halo({}, Criterion.STRICT).value is None


@pytest.mark.parametrize(
    ("pairs", "share", "kappa"),
    [
        pytest.param({(0, 0): 5, (2, 2): 5}, (10, 10), 1.0, id="the same each time"),
        pytest.param({(0, 0): 1, (0, 2): 1, (2, 0): 1, (2, 2): 1}, (2, 4), 0.0, id="by chance"),
        pytest.param({(2, 2): 4}, (4, 4), None, id="no variation"),
        pytest.param({}, (0, 0), None, id="no repeats"),
    ],
)
def test_repeats_tell_how_steady_a_reviewer_is(
    pairs: dict[tuple[int, int], int], share: tuple[int, int], kappa: float | None
) -> None:
    found = compare_repeats(pairs)

    assert (found.share.numerator, found.share.denominator) == share
    assert found.kappa == kappa


def test_accuracy_is_told_by_quarter_of_a_sitting() -> None:
    shares = share_by_quarter({(0, 2): 3, (0, 0): 1, (3, 1): 2}, Criterion.PARTIAL)

    assert [(share.numerator, share.denominator) for share in shares] == [
        *((3, 4), (0, 0), (0, 0), (2, 2))
    ]
