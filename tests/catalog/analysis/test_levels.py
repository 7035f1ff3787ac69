"""Tests that all code sorts and compares finding levels by the same list."""

from __future__ import annotations

from catalog.analysis import (
    Level,
    Outcome,
    RatedFinding,
    Risk,
    is_at_least,
    least_risk,
    level_place,
)
from pipeline.models import DraftFinding


def test_levels_are_sorted_from_the_most_severe_and_unknown_ones_come_last() -> None:
    order = ["error", "warning", "info", "style"]
    assert set(order) == set(Level), "a new level has its place in this list"
    words = ["style", "of tomorrow", "error", "info", "warning", *set(Level)]
    assert list(dict.fromkeys(sorted(words, key=level_place))) == [*order, "of tomorrow"]


def test_at_least() -> None:
    levels = ("error", "warning", "info", "of tomorrow")
    assert [is_at_least(level, Level.WARNING) for level in levels] == [True, True, False, False]
    assert not is_at_least("of tomorrow", Level.STYLE)


def test_only_what_is_as_severe_as_an_error_makes_shellcheck_raise_the_risk() -> None:
    for level in Level:
        found = least_risk([RatedFinding("shellcheck", Outcome.FAILED, level, "SC2086")])
        assert (found is Risk.HIGH) == is_at_least(level, Level.ERROR)


def test_the_table_takes_exactly_these_levels() -> None:
    legal = next(
        one for one in DraftFinding._meta.constraints if one.name == "draft_finding_level_legal"
    )
    assert list(dict(legal.condition.children)["level__in"]) == list(Level)  # type: ignore[attr-defined]
