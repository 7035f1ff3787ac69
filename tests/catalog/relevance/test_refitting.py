"""Fitting how sure to be to a team's own labels."""

from __future__ import annotations

import pytest

from catalog.relevance.fitted.model import ModelDocument, shipped_document, sigmoid
from catalog.relevance.training.refitting import (
    LEAST_LABELS,
    MANY_LABELS,
    CandidateFeatures,
    TooFewLabels,
    check_enough,
    hold_out,
    refit,
)


@pytest.fixture
def document() -> ModelDocument:
    return {**shipped_document(), "calibration": {"bias": 0.0, "score": 1.0}}


def features(*pairs: tuple[float, bool]) -> list[CandidateFeatures]:
    """Cases of these log-odds, each of a statement of its own."""
    return [
        CandidateFeatures(number, f"statement {number}", {"score": score}, is_match)
        for number, (score, is_match) in enumerate(pairs)
    ]


def promised(calibration: dict[str, float], score: float) -> float:
    return sigmoid(calibration["bias"] + calibration["score"] * score)


@pytest.mark.parametrize("times", [10, MANY_LABELS // 10], ids=["few labels", "many labels"])
def test_a_scoring_that_is_too_sure_promises_less(document: ModelDocument, times: int) -> None:
    # At log-odds 3 it promises 95 %, and 7 of 10 are right; at -1 it promises 27 %, and 1 of 10 is.
    cases = features(
        *([(3.0, n < 7) for n in range(10)] + [(-1.0, n < 1) for n in range(10)]) * times
    )
    fitted = refit(cases, document, version="team-1", made={})
    assert fitted["version"] == "team-1"
    assert promised(fitted["calibration"], 3.0) == pytest.approx(0.7, abs=0.03)
    assert promised(fitted["calibration"], -1.0) == pytest.approx(0.1, abs=0.05)
    assert fitted["forest"] == document["forest"]


def test_labels_that_know_nothing_of_its_order_only_shift_it(document: ModelDocument) -> None:
    cases = features(*[(number % 7 - 3.0, number % 2 == 0) for number in range(140)])
    calibration = refit(cases, document, version="team-1", made={})["calibration"]
    assert calibration["score"] == 1.0
    mean = sum(promised(calibration, case.values["score"]) for case in cases if case.values) / 140
    assert mean == pytest.approx(0.5, abs=0.01)


def test_held_out_no_statement_knows_its_own_label(document: ModelDocument) -> None:
    same = [
        CandidateFeatures(number, "one statement", {"score": 2.0}, True) for number in range(40)
    ]
    others = [
        CandidateFeatures(100 + number, f"other {number}", {"score": 2.0}, number % 2 == 0)
        for number in range(200)
    ]

    folds = hold_out([*same, *others], document["calibration"])

    assert len({tuple(sorted(folds[case.key].items())) for case in same}) == 1
    without = promised(folds[0], 2.0)
    assert without == pytest.approx(0.5, abs=0.06)
    with_them = max(promised(calibration, 2.0) for calibration in folds.values())
    assert with_them > without


@pytest.mark.parametrize(
    "labels",
    [[True] * LEAST_LABELS, [False] * LEAST_LABELS, [True, False] * (LEAST_LABELS // 2 - 1), []],
    ids=["all matches", "no match", "one pair too few", "none"],
)
def test_too_little_is_refused(labels: list[bool]) -> None:
    with pytest.raises(TooFewLabels):
        check_enough(labels)
