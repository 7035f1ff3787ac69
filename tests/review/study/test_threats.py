"""Threats to validity: words, and the figures that report them."""

from __future__ import annotations

import pytest

from review.study import Criterion, Values
from review.study.threats import THREATS, compare_halo, compare_repeats, share_by_quarter


def test_every_threat_of_the_study_is_answered_in_words() -> None:
    assert len({threat.key for threat in THREATS}) == len(THREATS) == 8
    for threat in THREATS:
        assert threat.text.startswith(("Prevented", "Recorded", "Reported"))


def test_halo_is_the_difference_to_the_score_without_the_diff() -> None:
    pairs = [(2, 2)] * 6 + [(2, 0)] * 3 + [(2, 1), (0, 2)]
    found = compare_halo([[pair] for pair in pairs], Criterion.STRICT)

    assert (found.gained, found.lost, found.items) == (1, 4, 11)
    assert compare_halo([], Criterion.STRICT).value is None
    # Two checks of a statement that are always alike are worth one.
    twice = compare_halo([[pair] * 2 for pair in pairs], Criterion.STRICT)
    assert (twice.items, twice.p_value) == (22, found.p_value)
    assert twice.deff == pytest.approx(2, rel=0.11)


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
    once = {0: {Values(0, 0, 1): 3, Values(1, 0, 0): 1}, 3: {Values(0, 1, 0): 2}}
    shares = share_by_quarter(once, Criterion.PARTIAL)

    assert [(share.numerator, share.denominator) for share in shares] == [
        *((3, 4), (0, 0), (0, 0), (2, 2))
    ]
    twice = {0: {Values(0, 0, 2): 3, Values(2, 0, 0): 1}}
    first = share_by_quarter(twice, Criterion.PARTIAL)[0]
    assert (shares[0].deff, first.denominator) == (None, 8)
    assert first.deff == pytest.approx(2.67, abs=0.01)
