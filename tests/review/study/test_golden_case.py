"""Tests that the golden case has every number that the paper prints, strict and partial."""

from __future__ import annotations

from dataclasses import replace

import pytest

from review.study import Criterion, work_out_figures
from tests.review.study.golden import count_patterns, golden_items

STRICT = {
    "first_pass_accuracy": (65, 153),
    "assessor_agreement": (93, 153),
    "assessor_recall": (38, 88),
    "assessor_precision": (38, 48),
    "feedback_useful": (61, 88),
    "model_correction": (47, 61),
    "still_wrong_of_feedback": (14, 61),
    "still_wrong_of_items": (14, 153),
    "overall_expert_triggered": (116, 153),
    "overall_assessor_triggered": (80, 153),
    "fixed": (18, 38),
    "broken": (3, 10),
    "net": (15, 153),
}
PARTIAL = {
    "first_pass_accuracy": (107, 153),
    "assessor_agreement": (101, 153),
    "assessor_recall": (21, 46),
    "assessor_precision": (21, 48),
    "feedback_useful": (23, 46),
    "model_correction": (18, 23),
    "still_wrong_of_feedback": (5, 23),
    "still_wrong_of_items": (5, 153),
    "overall_expert_triggered": (130, 153),
    "overall_assessor_triggered": (117, 153),
    "fixed": (13, 21),
    "broken": (3, 27),
    "net": (10, 153),
}


def test_golden_case_has_every_printed_figure() -> None:
    assert len(golden_items()) == 153
    for criterion, figures in work_out_figures(count_patterns(golden_items())).items():
        shares = STRICT if criterion is Criterion.STRICT else PARTIAL
        found = {name: figures[name] for name in shares}
        assert {
            name: (one.share.numerator, one.share.denominator) for name, one in found.items()
        } == shares
        for name, one in found.items():
            value = shares[name][0] / shares[name][1]
            assert (one.share.value, one.open, one.bounds) == (value, 0, (value, value)), name


def test_net_has_the_printed_interval_and_p_value() -> None:
    figures = work_out_figures(count_patterns(golden_items()))
    strict, partial = (figures[criterion]["net"] for criterion in Criterion)

    assert strict.share.value == pytest.approx(0.098, abs=5e-4)
    assert strict.share.low == pytest.approx(0.040, abs=5e-4)
    assert strict.share.high == pytest.approx(0.155, abs=5e-4)
    assert strict.beside["p_value"] == pytest.approx(0.0015, abs=5e-5)
    assert partial.beside["p_value"] == pytest.approx(0.021, abs=5e-4)


def test_golden_case_with_half_of_the_refinements_open_has_the_printed_weighted_value() -> None:
    """In each row of wrong first Drafts, every second refined script has no score."""
    items = golden_items()
    wrong = [place for place, one in enumerate(items) if one.scores[0].value < 2]
    by_row: dict[object, int] = {}
    for place in wrong:
        # Half of each row, rounded down.
        key = (items[place].verdict, *(score.value for score in items[place].scores))
        by_row[key] = by_row.get(key, 0) + 1
        if by_row[key] % 2 == 0:
            items[place] = replace(items[place], scores=items[place].scores[:-1])
    figure = work_out_figures(count_patterns(items))[Criterion.STRICT]["overall_expert_triggered"]

    assert figure.open == sum(number // 2 for number in by_row.values())
    assert figure.range[0] < 116 / 153 < figure.range[1]
    assert figure.share.value > 0.8
    assert figure.post_stratified == pytest.approx(116 / 153, abs=0.03)
