"""Tests that compare a scoring's figures with manual counts."""

from __future__ import annotations

import pytest

from catalog.calibration.metrics import (
    Case,
    brier_score,
    calibration_error,
    draw_curve,
    fill_bins,
    point_at,
    suggest_threshold,
)
from core.highlighting import cut_at

CASES = [
    Case(0.9, True, True),
    Case(0.9, True, True),
    Case(0.8, True, False),
    Case(0.7, True, True),
    Case(0.2, True, False),
    Case(0.0, False, True),  # a rule forbids the match, so the case is never answered
]


ANSWERED = [(0.95, 0, 0), (0.9, 2, 2), (0.75, 2, 3), (0.5, 3, 4), (0.0, 3, 5)]


def test_a_threshold_answers_what_lies_at_or_above_it() -> None:
    points = [(threshold, point_at(CASES, threshold)) for threshold, *_ in ANSWERED]
    assert [(at, one.share.right, one.share.count) for at, one in points] == ANSWERED
    assert all(one.coverage == pytest.approx(one.share.count / 6) for _at, one in points)


LEAST = [(1.0, 0.9), (0.75, 0.7), (0.7, 0.7), (0.6, 0.2), (0.1, 0.2)]


def test_suggested_threshold_is_the_least_that_reaches_the_precision() -> None:
    points = [(wanted, suggest_threshold(CASES, wanted_precision=wanted)) for wanted, _ in LEAST]
    assert [(wanted, point and point.threshold) for wanted, point in points] == LEAST
    assert suggest_threshold([Case(0.9, True, False)], wanted_precision=0.5) is None
    assert suggest_threshold([], wanted_precision=0.5) is None


def test_curve_has_a_point_for_each_reachable_tenth() -> None:
    curve = draw_curve(CASES)
    # Two cases with equal confidence are answered together, and a rule forbids one of the six cases.
    assert [point.share.count for point in curve] == [2, 2, 2, 3, 3, 4, 5, 5]
    assert [point.threshold for point in curve] == [0.9, 0.9, 0.9, 0.8, 0.8, 0.7, 0.2, 0.2]
    assert (draw_curve([]), fill_bins([]), calibration_error([]), brier_score([])) == (
        [],
        [],
        None,
        None,
    )


def test_bins_compare_what_was_promised_with_what_was_right() -> None:
    bins = fill_bins(CASES)
    assert [(one.low, one.share.right, one.share.count) for one in bins] == [
        (0.2, 0, 1),
        (0.7, 1, 1),
        (0.8, 0, 1),
        (0.9, 2, 2),
    ]
    assert calibration_error(CASES) == pytest.approx((0.2 + 0.3 + 0.8 + 2 * 0.1) / 5)
    assert brier_score(CASES) == pytest.approx((0.01 + 0.01 + 0.64 + 0.09 + 0.04) / 5)


PIECES = {
    "one": ([(5, 7)], ["30"]),
    "at both ends": ([(0, 4), (8, 12)], ["keep", "days"]),
    "the first of two that overlap": ([(5, 7), (6, 12)], ["30"]),
    "none": ([], []),
    "an empty one": ([(7, 7)], []),
}


def test_a_text_is_cut_into_pieces(subtests: pytest.Subtests) -> None:
    for name, (spans, marked) in PIECES.items():
        with subtests.test(name):
            pieces = cut_at("keep 30 days", spans)
            assert "".join(piece.text for piece in pieces) == "keep 30 days"
            assert [piece.text for piece in pieces if piece.is_marked] == marked
