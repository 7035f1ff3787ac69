"""Tests for the confidence bounds of benchmark figures."""

from __future__ import annotations

from bench.__main__ import print_table
from bench.figures import describe_bounds, figure

CASES = [
    (figure("inside", 5, least=4, most=6), "4 to 6", 0),
    (figure("too small", 3.9, least=4), "at least 4", 1),
    (figure("too large", 6.1, most=6), "at most 6", 1),
    (figure("equal", 7, exactly=7), "exactly 7", 0),
    (figure("not equal", 8, exactly=7), "exactly 7", 1),
    (figure("zero is a bound", 1, exactly=0), "exactly 0", 1),
    (figure("not measured", None, most=6), "at most 6", 1),
    (figure("without any bound", 5), "", 1),
]


def test_table_with_a_broken_bound_fails() -> None:
    wrong = [
        row["what"]
        for row, words, code in CASES
        if describe_bounds(row) != words or print_table("bench", [row]) != code
    ]
    assert wrong == []
