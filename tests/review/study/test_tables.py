"""Tests for the tables next to the figures: rounds, retrieved scripts, experts, lengths, assessor and skips."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from pipeline.types import Arm, Verdict
from review.study import (
    Criterion,
    GivenScore,
    ItemPattern,
    Judged,
    Stage,
    Values,
    pattern_of,
    work_out_figures,
)
from review.study.figures import NOT_PART, reduce_to_figures
from review.study.gain import tabulate_gain
from review.study.repeated import NOT_KEPT
from review.study.statistics.intervals import Share
from review.study.tables import (
    bound_skipped,
    draw_up_card,
    tabulate_expert,
    tabulate_lengths,
    tabulate_retrieved,
)
from review.study.threats import THREATS, compare_halo, compare_repeats, share_by_quarter
from review.study.types import Origin
from tests.review.study.drawn_items import drawn_items
from tests.review.study.golden import count_patterns, golden_items

STRICT, PARTIAL = Criterion.STRICT, Criterion.PARTIAL


def item(script: int, refined: int | None = None, **rest) -> Judged:
    scores = [GivenScore(reviewer=1, stage=Stage.SCRIPT, value=script)]
    if refined is not None:
        scores.append(GivenScore(reviewer=1, stage=Stage.REFINED, value=refined))
    return Judged(scores=tuple(scores), **rest)


def test_rounds_0_and_1_of_the_gain_are_the_figures() -> None:
    for seed in range(20):
        patterns = count_patterns(drawn_items(seed))
        for criterion, figures in work_out_figures(patterns).items():
            before, after = tabulate_gain(patterns, criterion)
            first = figures["first_pass_accuracy"].share

            assert before.by_expert.share == before.by_assessor.share == first, seed
            for name, gain in (
                ("overall_expert_triggered", after.by_expert),
                ("overall_assessor_triggered", after.by_assessor),
            ):
                if figures[name].reason != NOT_PART:
                    assert gain.share == figures[name].share, seed
                    assert gain.open == first.denominator - gain.share.denominator
                    assert gain.range == figures[name].range
                    assert gain.post_stratified == pytest.approx(figures[name].post_stratified)
            assert (before.by_expert.open, before.by_assessor.open) == (0, 0)


def test_a_round_with_open_items_says_where_it_can_end() -> None:
    def flagged(second: int | None) -> Judged:
        more = (
            []
            if second is None
            else [GivenScore(reviewer=1, stage=Stage.REFINED, value=second, round=2)]
        )
        found = item(0, 2 if second else 0, verdict=Verdict.INCORRECT)
        return replace(found, scores=(*found.scores, *more), has_refined=True, later=(None,))

    passed = item(2, verdict=Verdict.CORRECT)
    patterns = count_patterns([passed] * 60 + [flagged(2)] * 20 + [flagged(None)] * 20)
    first, second = (row.by_assessor for row in tabulate_gain(patterns, STRICT)[1:])

    assert (first.share.numerator, first.share.denominator, first.range) == (80, 100, None)
    assert (second.share.numerator, second.share.denominator, second.open) == (80, 80, 20)
    assert second.range == (0.8, 1.0)
    # The estimate assumes that open flagged items are like closed flagged items.
    assert second.post_stratified == 1.0
    assert second.has_too_many_open
    assert not first.has_too_many_open


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
    assert [row.by_expert.share.numerator for row in rows] == [2, 2, 3]
    assert [row.by_assessor.share.numerator for row in rows] == [2, 2, 2]
    assert [row.by_assessor.share.denominator for row in rows] == [4, 4, 3]
    assert [(row.by_expert.open, row.by_assessor.open) for row in rows] == [(0, 0), (0, 0), (1, 1)]


def test_a_later_draft_with_a_text_that_stood_before_takes_its_score() -> None:
    back = replace(item(2, 0, verdict=Verdict.INCORRECT), has_refined=True, later=(0, 1))
    rows = tabulate_gain(count_patterns([back]), STRICT)

    assert [row.by_assessor.share.numerator for row in rows] == [1, 0, 1, 0]


def test_retrieved_and_unassessed_items_are_apart() -> None:
    patterns = count_patterns([item(2, origin=Origin.RETRIEVED), item(0, origin=Origin.RETRIEVED)])
    share = tabulate_retrieved(patterns, STRICT)

    assert (share.numerator, share.denominator) == (1, 2)
    assert draw_up_card(patterns, STRICT).right[None] == 0
    card = draw_up_card(count_patterns([item(0, verdict=Verdict.UNKNOWN), item(0)]), STRICT)

    assert (card.wrong[Verdict.UNKNOWN], card.wrong[None]) == (1, 1)
    assert card.missed.value is None


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


def test_the_card_of_the_assessor_in_the_golden_case() -> None:
    for criterion, missed, false_alarms in (
        (STRICT, (50, 88), (10, 65)),
        (PARTIAL, (25, 46), (27, 107)),
    ):
        card = draw_up_card(count_patterns(golden_items()), criterion)

        assert (card.missed.numerator, card.missed.denominator) == missed
        assert (card.false_alarms.numerator, card.false_alarms.denominator) == false_alarms
        assert sum(card.right.values()) + sum(card.wrong.values()) == 153


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


def in_pairs(items: list[Judged]) -> Counter[tuple[ItemPattern, ...]]:
    """Return the items in pairs. Each pair has one statement."""
    patterns = [reduce_to_figures(found) for one in items if (found := pattern_of(one))]
    return Counter(zip(patterns[::2], patterns[1::2], strict=True))


def test_intervals_beside_the_figures_heed_statements_that_repeat() -> None:
    def pair(script: int, refined: int, expert: int) -> list[Judged]:
        more = GivenScore(reviewer=2, stage=Stage.REFINED, value=expert, arm=Arm.EXPERT)
        verdict = Verdict.INCORRECT if refined else Verdict.CORRECT
        found = item(script, refined, verdict=verdict, has_refined=True, origin=Origin.REPAIRED)
        return [replace(found, scores=(*found.scores, more))] * 2

    kinds = [(0, 2, 2), (0, 0, 2), (2, 2, 0), (2, 0, 0)]
    items = [one for kind in kinds for _ in range(5) for one in pair(*kind)]
    patterns, clusters = count_patterns(items), in_pairs(items)
    expert = tabulate_expert(patterns, STRICT, clusters)
    # Two items of a statement that are always equal count as one.
    alone = tabulate_expert(count_patterns(items[::2]), STRICT).change

    assert (expert.change.items, alone.items) == (40, 20)
    assert expert.change.deff == pytest.approx(2, rel=0.06)
    assert expert.change.p_value == alone.p_value
    card = draw_up_card(patterns, STRICT, clusters)
    gain = tabulate_gain(patterns, STRICT, clusters)[1]
    figures = work_out_figures(patterns, clusters)[STRICT]
    for share in (expert.expert, card.missed, card.false_alarms, gain.by_assessor.share):
        plain = Share.of(share.numerator, share.denominator)
        assert share.low is not None and plain.low is not None and share.low < plain.low
    for name, key in (
        ("first_pass_accuracy", "repaired_as_wrong"),
        ("assessor_recall", "coverage"),
    ):
        wide = figures[name].beside[key]
        plain = Share.of(wide["numerator"], wide["denominator"])
        assert wide["low"] != plain.low or wide["high"] != plain.high
    for share in (*bound_skipped(patterns, STRICT, clusters),):
        assert (share.low, share.no_interval) == (None, NOT_KEPT)
    retrieved = [replace(one, origin=Origin.RETRIEVED) for one in items]
    row = tabulate_retrieved(count_patterns(retrieved), STRICT, in_pairs(retrieved))
    assert row.deff == pytest.approx(2, rel=0.06)


def test_every_threat_of_the_study_is_answered_in_words() -> None:
    assert len({threat.key for threat in THREATS}) == len(THREATS) == 10
    for threat in THREATS:
        assert threat.text.startswith(("Prevented", "Recorded", "Reported"))


def test_halo_is_the_difference_to_the_score_without_the_diff() -> None:
    pairs = [(2, 2)] * 6 + [(2, 0)] * 3 + [(2, 1), (0, 2)]
    found = compare_halo([[pair] for pair in pairs], Criterion.STRICT)

    assert (found.gained, found.lost, found.items) == (1, 4, 11)
    assert compare_halo([], Criterion.STRICT).value is None
    # Two checks of a statement that are always equal count as one.
    twice = compare_halo([[pair] * 2 for pair in pairs], Criterion.STRICT)
    assert (twice.items, twice.p_value) == (22, found.p_value)
    assert twice.deff == pytest.approx(2, rel=0.11)


def test_repeats_tell_how_steady_a_reviewer_is() -> None:
    """Test the number of equal pairs of scores, and kappa, which requires variation."""
    for pairs, share, kappa in (
        ({(0, 0): 5, (2, 2): 5}, (10, 10), 1.0),
        ({(0, 0): 1, (0, 2): 1, (2, 0): 1, (2, 2): 1}, (2, 4), 0.0),
        ({(2, 2): 4}, (4, 4), None),
        ({}, (0, 0), None),
    ):
        found = compare_repeats(pairs)
        assert (found.share.numerator, found.share.denominator) == share
        assert found.kappa == kappa, pairs


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
