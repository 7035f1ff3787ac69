"""What stands beside the figures: rounds, retrieved, experts' feedback, lengths, the assessor, skips."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.types import Arm, Verdict
from review.study import Criterion, GivenScore, Judged, Stage, work_out_figures
from review.study.figures import NOT_PART
from review.study.tables import (
    bound_skipped,
    draw_up_card,
    tabulate_expert,
    tabulate_gain,
    tabulate_lengths,
    tabulate_retrieved,
)
from review.study.types import Origin
from tests.review.study.golden import count_patterns, golden_items
from tests.review.study.plain import judged_items

STRICT, PARTIAL = Criterion.STRICT, Criterion.PARTIAL


def item(script: int, refined: int | None = None, **rest) -> Judged:  # type: ignore[no-untyped-def]
    scores = [GivenScore(reviewer=1, stage=Stage.SCRIPT, value=script)]
    if refined is not None:
        scores.append(GivenScore(reviewer=1, stage=Stage.REFINED, value=refined))
    return Judged(scores=tuple(scores), **rest)


@settings(max_examples=30, deadline=None)
@given(st.lists(judged_items(), max_size=12), st.sampled_from(Criterion))
def test_rounds_0_and_1_of_the_gain_are_the_figures(
    items: list[Judged], criterion: Criterion
) -> None:
    patterns = count_patterns(items)
    figures = work_out_figures(patterns)[criterion]
    before, after = tabulate_gain(patterns, criterion)

    assert before.by_expert == before.by_assessor == figures["first_pass_accuracy"].share
    scored = figures["first_pass_accuracy"].share.denominator
    for name, share, pending in (
        ("overall_expert_triggered", after.by_expert, after.pending_by_expert),
        ("overall_assessor_triggered", after.by_assessor, after.pending_by_assessor),
    ):
        if figures[name].reason != NOT_PART:
            assert share == figures[name].share
            assert pending == scored - share.denominator
    assert (before.pending_by_expert, before.pending_by_assessor) == (0, 0)


def test_later_rounds_go_on_from_the_refined_script() -> None:
    def two_rounds(script: int, refined: int, second: int | None) -> Judged:
        first = item(script, refined)
        scores = first.scores
        if second is not None:
            again = GivenScore(reviewer=1, stage=Stage.REFINED, value=second, round=2)
            scores = (*scores, again)
        return replace(
            first, scores=scores, verdict=Verdict.INCORRECT, has_refined=True, later=(None,)
        )

    patterns = count_patterns(
        [
            two_rounds(0, 0, 2),  # right after the second round
            two_rounds(2, 2, 0),  # broken by the second round
            two_rounds(0, 0, None),  # the second round's script is not scored
            item(2),
        ]
    )
    rows = tabulate_gain(patterns, STRICT)

    assert [row.drafts for row in rows] == [4, 3, 3]
    assert [row.by_expert.numerator for row in rows] == [2, 2, 3]
    assert [row.by_assessor.numerator for row in rows] == [2, 2, 2]
    assert [row.by_assessor.denominator for row in rows] == [4, 4, 3]
    assert [(row.pending_by_expert, row.pending_by_assessor) for row in rows] == [
        (0, 0),
        (0, 0),
        (1, 1),
    ]


def test_a_later_draft_with_a_text_that_stood_before_takes_its_score() -> None:
    back = replace(item(2, 0, verdict=Verdict.INCORRECT), has_refined=True, later=(0, 1))
    rows = tabulate_gain(count_patterns([back]), STRICT)

    assert [row.by_assessor.numerator for row in rows] == [1, 0, 1, 0]


def test_retrieved_items_have_a_row_of_their_own() -> None:
    patterns = count_patterns([item(2, origin=Origin.RETRIEVED), item(0, origin=Origin.RETRIEVED)])
    share = tabulate_retrieved(patterns, STRICT)

    assert (share.numerator, share.denominator) == (1, 2)
    assert draw_up_card(patterns, STRICT).right[None] == 0


def test_experts_feedback_is_compared_on_items_that_have_both() -> None:
    def both(model: int | None, expert: int | None, *, is_author: bool = False) -> Judged:
        values = {Arm.MODEL: model, Arm.EXPERT: expert}
        return Judged(
            scores=tuple(
                GivenScore(
                    reviewer=1,
                    stage=Stage.REFINED,
                    value=value,
                    arm=arm,
                    is_author=is_author and arm is Arm.EXPERT,
                )
                for arm, value in values.items()
                if value is not None
            )
        )

    patterns = count_patterns(
        [both(0, 2), both(0, 2), both(2, 2), both(2, 0), both(0, None), both(None, 2)]
        + [both(0, 2, is_author=True)]
    )
    row = tabulate_expert(patterns, STRICT)
    everyone = tabulate_expert(patterns, STRICT, with_authors=True)

    assert (row.expert.numerator, row.model.numerator, row.change.items) == (3, 2, 4)
    assert (row.change.gained, row.change.lost, row.change.value) == (2, 1, 0.25)
    assert (everyone.expert.numerator, everyone.change.items) == (4, 5)


def test_the_fix_rate_is_told_by_length_of_feedback() -> None:
    rows = tabulate_lengths(
        count_patterns(
            [
                item(0, 2, feedback_words=12),
                item(0, 1, feedback_words=20),
                item(0, 2, feedback_words=21),
                item(0, feedback_words=900, has_refined=True),
                item(2, 2, feedback_words=12),
                item(0, 2),
            ]
        ),
        STRICT,
    )

    assert [(row.least, row.most) for row in rows] == [
        *((0, 20), (21, 40), (41, 80), (81, 160), (161, None))
    ]
    assert [(row.fixed.numerator, row.fixed.denominator) for row in rows] == [
        *((1, 2), (1, 1), (0, 0), (0, 0), (0, 0))
    ]
    assert [row.unscored for row in rows] == [0, 0, 0, 0, 1]


@pytest.mark.parametrize(
    ("criterion", "missed", "false_alarms"),
    [
        pytest.param(STRICT, (50, 88), (10, 65), id="strict"),
        pytest.param(PARTIAL, (25, 46), (27, 107), id="partial"),
    ],
)
def test_the_card_of_the_assessor_in_the_golden_case(
    criterion: Criterion, missed: tuple[int, int], false_alarms: tuple[int, int]
) -> None:
    card = draw_up_card(count_patterns(golden_items()), criterion)

    assert (card.missed.numerator, card.missed.denominator) == missed
    assert (card.false_alarms.numerator, card.false_alarms.denominator) == false_alarms
    assert sum(card.right.values()) + sum(card.wrong.values()) == 153


def test_the_card_keeps_unknown_and_never_assessed_apart() -> None:
    card = draw_up_card(count_patterns([item(0, verdict=Verdict.UNKNOWN), item(0)]), STRICT)

    assert (card.wrong[Verdict.UNKNOWN], card.wrong[None]) == (1, 1)
    assert card.missed.value is None


def test_what_was_skipped_bounds_the_accuracy() -> None:
    patterns = count_patterns(
        [
            item(2),
            item(0, passed_over=((1, "skipped"),)),
            Judged(passed_over=((1, "skipped"),)),
            Judged(),
        ]
    )
    low, high = bound_skipped(patterns, STRICT)

    assert (low.numerator, low.denominator) == (1, 3)
    assert (high.numerator, high.denominator) == (2, 3)
