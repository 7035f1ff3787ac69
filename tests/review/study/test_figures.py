"""Tests for figures from counts, compared with the recount and with manual calculations, and for edge cases."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from pipeline.types import Arm, Verdict
from review.study import (
    FIGURES,
    Criterion,
    Figure,
    GivenScore,
    ItemPattern,
    Judged,
    Stage,
    patterns_behind,
    work_out_figures,
)
from review.study.figures import NOT_PART
from review.study.types import Origin, Recommended
from tests.review.study.drawn_items import drawn_items, exported, random_item
from tests.review.study.golden import count_patterns
from tests.review.study.recount.comparison import Differences, check_figure
from tests.review.study.recount.figures import figures_of
from tests.review.study.recount.finals import Finals


def scored(script: int, feedback: int | None = None, refined: int | None = None, **rest) -> Judged:
    """Return an item that one reviewer scored."""
    given = {Stage.SCRIPT: script, Stage.FEEDBACK: feedback, Stage.REFINED: refined}
    return Judged(
        scores=tuple(
            GivenScore(reviewer=1, stage=stage, value=value)
            for stage, value in given.items()
            if value is not None
        ),
        **rest,
    )


def strict(*items: Judged) -> dict[str, Figure]:
    return work_out_figures(count_patterns(list(items)))[Criterion.STRICT]


def share(figure: Figure) -> tuple[int, int]:
    return figure.share.numerator, figure.share.denominator


def test_figures_of_drawn_items_equal_the_recount() -> None:
    """Compare every value, interval, bound, range and number of open items, under both criteria."""
    for seed in range(40):
        items, found = drawn_items(seed), Differences()
        finals = Finals(exported(items))
        for criterion, figures in work_out_figures(count_patterns(items)).items():
            recounted = figures_of(finals, "arm", criterion)
            assert list(figures) == list(recounted)
            for name, figure in figures.items():
                check_figure(found, (criterion, name), recounted[name], figure.as_json())
        assert not found.found, (seed, found.found)


def test_figures_depend_on_neither_the_order_of_items_nor_patterns_without_items() -> None:
    for seed in range(20):
        items = drawn_items(seed)
        counts = count_patterns(items[::-1])
        for pattern in count_patterns(drawn_items(seed + 100)):
            counts[pattern] += 0
        assert _as_json(counts) == _as_json(count_patterns(items)), seed


def test_pattern_is_read_back_from_its_text() -> None:
    for pattern in count_patterns([random_item(random.Random(seed)) for seed in range(300)]):
        assert ItemPattern.from_text(pattern.to_text()) == pattern
        assert len(pattern.to_text()) < 120
    with pytest.raises(ValueError, match="not the pattern"):
        ItemPattern.from_text("2|1")


def test_the_items_behind_a_figure_are_as_many_as_it_counts() -> None:
    for seed in range(20):
        counts = count_patterns(drawn_items(seed))
        for criterion, figures in work_out_figures(counts).items():
            for name, figure in figures.items():
                behind = sum(counts[one] for one in patterns_behind(counts, name, criterion))
                assert behind == figure.share.denominator, (seed, criterion, name)
                counted = patterns_behind(counts, name, criterion, only_numerator=True)
                if name != "net":
                    assert sum(counts[one] for one in counted) == figure.share.numerator


def test_figure_without_objects_is_empty() -> None:
    for figure in strict().values():
        assert share(figure) == (0, 0)
        assert figure.as_json()["value"] is None
        assert figure.as_json()["low"] is None
    figures = strict(scored(0), scored(2))

    assert figures["net"].reason == figures["fixed"].reason == NOT_PART
    assert figures["net"].as_json()["value"] is None
    assert figures["net"].as_json()["p_value"] is None
    assert figures["first_pass_accuracy"].reason == ""


def test_repaired_and_failed_are_counted_beside() -> None:
    figures = strict(scored(2), Judged(origin=Origin.FAILED))

    assert share(figures["first_pass_accuracy"]) == (1, 2)
    assert figures["first_pass_accuracy"].beside["failed"] == 1
    assert figures["feedback_useful"].reason == NOT_PART
    assert figures["assessor_recall"].beside["never_assessed"] == 1
    assert figures["overall_expert_triggered"].reason == NOT_PART
    first = strict(scored(2), scored(2, origin=Origin.REPAIRED), scored(0))["first_pass_accuracy"]

    assert share(first) == (2, 3)
    assert first.beside["repaired"] == 1
    beside = first.as_json()["repaired_as_wrong"]
    assert (beside["numerator"], beside["denominator"]) == (1, 3)


def test_an_unknown_verdict_is_neither_a_flag_nor_a_pass() -> None:
    figures = strict(
        scored(0, verdict=Verdict.UNKNOWN), scored(2, verdict=Verdict.UNKNOWN), scored(0)
    )

    assert share(figures["assessor_agreement"]) == (0, 0)
    assert figures["assessor_agreement"].beside == {"unknown": 2, "never_assessed": 1}
    assert share(figures["assessor_recall"]) == (0, 1)
    assert figures["assessor_recall"].beside["unknown"] == 1
    assert figures["assessor_recall"].beside["never_assessed"] == 1
    coverage = figures["assessor_recall"].beside["coverage"]
    assert (coverage["numerator"], coverage["denominator"]) == (0, 3)
    assert share(figures["assessor_precision"]) == (0, 0)


def test_an_item_whose_refined_script_is_not_scored_yet_leaves_the_figures_that_need_it() -> None:
    figures = strict(
        scored(0, 2, has_refined=True, verdict=Verdict.INCORRECT),
        scored(2, verdict=Verdict.CORRECT),
    )

    assert share(figures["model_correction"]) == (0, 0)
    assert figures["model_correction"].beside == {"unscored": 1, "not_refined": 0}
    for name in ("overall_expert_triggered", "overall_assessor_triggered"):
        figure = figures[name]
        assert (share(figure), figure.open, figure.pending) == ((1, 1), 1, 1), name
        assert figure.range == figure.bounds == (0.5, 1.0)
        # The open item is the only wrong and flagged one, so its stratum has no closed item.
        assert figure.post_stratified is None
    assert (share(figures["fixed"]), figures["fixed"].open) == ((0, 0), 1)
    assert (share(figures["net"]), figures["net"].range) == ((0, 1), (0.0, 0.5))
    assert share(figures["first_pass_accuracy"]) == (1, 2)


def test_what_is_open_is_weighted_by_what_ended_like_it() -> None:
    """Two of four wrong and flagged items are fixed, and two more are open. Six items are right and passed."""
    wrong = [scored(0, 2, refined, verdict=Verdict.INCORRECT) for refined in (2, 2, 0, 0)]
    waiting = [scored(0, 2, has_refined=True, verdict=Verdict.INCORRECT)] * 2
    figure = strict(*wrong, *waiting, *[scored(2, verdict=Verdict.CORRECT)] * 6)[
        "overall_assessor_triggered"
    ]

    assert share(figure) == (8, 10)
    assert figure.range == (8 / 12, 10 / 12)
    assert figure.post_stratified == pytest.approx(6 / 12 * 2 / 4 + 6 / 12)


def test_without_a_refined_script_the_first_stands() -> None:
    figures = strict(
        scored(2, verdict=Verdict.INCORRECT),
        scored(0, 2, verdict=Verdict.INCORRECT),
        scored(2, 2, 2, verdict=Verdict.CORRECT),
    )

    assert share(figures["overall_assessor_triggered"]) == (2, 3)
    assert figures["overall_assessor_triggered"].open == 0
    assert figures["model_correction"].beside == {"unscored": 0, "not_refined": 1}


def test_a_score_that_breaks_a_right_script_counts_whoever_passed_it() -> None:
    flagged = scored(2, None, 0, verdict=Verdict.INCORRECT)
    passed = scored(2, None, 0, verdict=Verdict.CORRECT)
    figures = strict(flagged, passed)

    assert share(figures["broken"]) == (1, 1)
    assert share(figures["net"]) == (-1, 2)
    assert share(figures["overall_assessor_triggered"]) == (1, 2)


def test_the_recommended_script_decides_after_the_guard() -> None:
    kept = scored(2, None, 0, verdict=Verdict.INCORRECT, recommended=Recommended.FIRST)
    taken = scored(0, None, 2, verdict=Verdict.INCORRECT, recommended=Recommended.REFINED)
    later = scored(0, None, 2, verdict=Verdict.INCORRECT, recommended=Recommended.OTHER)
    figures = strict(kept, taken, later, scored(2))

    assert share(figures["overall_as_recommended"]) == (2, 2)
    assert figures["overall_as_recommended"].beside == {"not_recommended": 1}
    assert figures["overall_as_recommended"].open == 1


def test_unresolved_items_are_left_out_and_bound_the_figure() -> None:
    split = Judged(
        scores=(
            GivenScore(reviewer=1, stage=Stage.SCRIPT, value=0),
            GivenScore(reviewer=2, stage=Stage.SCRIPT, value=2),
        ),
        verdict=Verdict.CORRECT,
    )
    figures = strict(scored(2, verdict=Verdict.CORRECT), split)
    first, recall = figures["first_pass_accuracy"], figures["assessor_recall"]

    assert (share(first), first.unresolved) == ((1, 1), 1)
    assert first.bounds == (0.5, 1.0)
    # If the item is wrong, the assessor missed its error. If it is right, the figure has no item and no value.
    assert (share(recall), recall.unresolved) == ((0, 0), 1)
    assert recall.bounds == (0.0, 0.0)


def test_retrieved_items_gold_and_expert_refinements_are_in_no_model_figure() -> None:
    expert = Judged(
        scores=(
            GivenScore(reviewer=1, stage=Stage.SCRIPT, value=0),
            GivenScore(reviewer=1, stage=Stage.REFINED, value=2, arm=Arm.EXPERT),
        )
    )
    figures = strict(scored(2, origin=Origin.RETRIEVED), scored(2, is_real=False), expert)

    assert share(figures["first_pass_accuracy"]) == (0, 1)
    assert figures["overall_expert_triggered"].reason == NOT_PART


def test_execution_agrees_only_at_full_success_and_reasons_are_counted() -> None:
    figure = strict(
        scored(2, execution=1.0),
        scored(2, execution=0.99, execution_reason="too_strict"),
        scored(0, execution=0.0),
        scored(0, execution=1.0),
        scored(2),
    )["execution_agreement"]

    assert share(figure) == (2, 4)
    assert figure.beside["reasons"] == {
        "different_interpretation": 0,
        "too_strict": 1,
        "wrong_expected_output": 0,
        "other": 0,
        "not_said": 1,
    }


def test_every_figure_has_its_definition_in_words() -> None:
    assert not [one.name for one in FIGURES if not one.label or not one.text.endswith(".")]


def _as_json(counts: Counter[ItemPattern]) -> dict[Criterion, dict[str, object]]:
    return {
        criterion: {name: figure.as_json() for name, figure in figures.items()}
        for criterion, figures in work_out_figures(counts).items()
    }
