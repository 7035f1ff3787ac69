"""Which scores count: for the figures, and for agreement."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.types import Arm, Verdict
from review.study import (
    Criterion,
    GivenScore,
    ItemPattern,
    Judged,
    Reading,
    Stage,
    not_blind_of,
    overturned_of,
    pattern_of,
    stages_to_settle,
    values_given,
)
from review.study.patterns import class_of_length
from review.study.types import FinalScore, Origin, Recommended

SCRIPT, REFINED = Stage.SCRIPT, Stage.REFINED


def by(reviewer: int, value: int, stage: Stage = SCRIPT, **rest) -> GivenScore:  # type: ignore[no-untyped-def]
    return GivenScore(reviewer=reviewer, stage=stage, value=value, **rest)


def pattern(*scores: GivenScore, **rest) -> ItemPattern:  # type: ignore[no-untyped-def]
    found = pattern_of(Judged(scores=scores, **rest))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("scores", "in_figures", "in_agreement"),
    [
        pytest.param([by(1, 2)], FinalScore.CORRECT, ((1, 2),), id="one score"),
        pytest.param(
            [by(1, 0, order=1), by(1, 2, order=2)],
            FinalScore.CORRECT,
            ((1, 2),),
            id="changed before anything later was shown",
        ),
        pytest.param(
            [by(1, 0, order=1), by(1, 2, order=2, is_blind=False)],
            FinalScore.INCORRECT,
            ((1, 0),),
            id="changed after, the value before counts",
        ),
        pytest.param(
            [by(1, 2, order=2, is_blind=False), by(1, 0, order=1)],
            FinalScore.INCORRECT,
            ((1, 0),),
            id="whatever the order of rows",
        ),
        pytest.param(
            [by(1, 1, order=1, is_blind=False), by(1, 2, order=2, is_blind=False)],
            FinalScore.PENDING,
            (),
            id="never blind: it decides nothing",
        ),
        pytest.param(
            [by(1, 0, order=1, is_undone=True), by(1, 2, order=2)],
            FinalScore.CORRECT,
            ((1, 2),),
            id="taken back and given anew",
        ),
        pytest.param(
            [by(1, 0, order=1), by(1, 2, order=2, is_undone=True)],
            FinalScore.INCORRECT,
            ((1, 0),),
            id="changed, and the change taken back",
        ),
        pytest.param(
            [by(1, 0, order=1, is_undone=True), by(1, 2, order=2, is_blind=False)],
            FinalScore.INCORRECT,
            ((1, 0),),
            id="taken back after it had opened the feedback: the value before counts",
        ),
        pytest.param([by(1, 0, is_undone=True)], FinalScore.UNSCORED, (), id="taken back"),
        pytest.param(
            [by(1, 0), by(2, 2), by(3, 2, was_called_in=True)],
            FinalScore.CORRECT,
            ((1, 0), (2, 2)),
            id="somebody called in decides, and is left out of agreement",
        ),
    ],
)
def test_the_value_that_counts(
    scores: list[GivenScore], in_figures: FinalScore, in_agreement: tuple[tuple[int, int], ...]
) -> None:
    assert pattern(*scores).script is in_figures
    assert values_given(Judged(scores=tuple(scores)), SCRIPT) == in_agreement


def test_gold_training_and_repeats_bring_nothing() -> None:
    item = Judged(scores=(by(1, 2), by(2, 2)), is_real=False)

    assert pattern_of(item) is None
    assert values_given(item, SCRIPT) == ()


def test_an_adjudication_is_final_and_no_part_of_agreement() -> None:
    item = Judged(scores=(by(1, 0), by(2, 2)), adjudicated={(SCRIPT, Arm.MODEL): 1})

    assert pattern(*item.scores, adjudicated=item.adjudicated).script is FinalScore.PARTIAL
    assert values_given(item, SCRIPT) == ((1, 0), (2, 2))


def test_sham_scores_of_those_who_found_the_script_right_count_nowhere() -> None:
    scores = (by(1, 2), by(2, 0), by(3, 0), by(1, 0, REFINED), by(2, 2, REFINED))
    item = Judged(scores=scores, is_sham=True, verdict=Verdict.CORRECT, has_refined=True)

    assert pattern_of(item) == ItemPattern(
        FinalScore.INCORRECT, refined=FinalScore.CORRECT, verdict=Verdict.CORRECT
    )
    assert values_given(item, REFINED) == ((2, 2),)


def test_what_a_flag_opened_is_no_sham() -> None:
    scores = (by(1, 2), by(1, 0, REFINED))

    assert pattern(*scores, is_sham=True, verdict=Verdict.INCORRECT).refined is FinalScore.INCORRECT


def test_a_run_without_a_script_is_wrong_by_rule() -> None:
    assert pattern(origin=Origin.FAILED).script is FinalScore.INCORRECT


def test_a_refined_score_shows_that_there_was_a_refined_script() -> None:
    assert pattern(by(1, 0), by(1, 2, REFINED)).has_refined
    assert not pattern(by(1, 0)).has_refined


def test_the_authors_scores_of_an_experts_refinement_are_kept_apart() -> None:
    author = by(1, 2, REFINED, arm=Arm.EXPERT, text=7, is_author=True)
    other = by(2, 0, REFINED, arm=Arm.EXPERT, text=7)

    assert pattern(author).expert is FinalScore.ABSENT
    assert pattern(author).expert_by_all is FinalScore.CORRECT
    assert pattern(author, other).expert is FinalScore.INCORRECT
    assert pattern(author, other).expert_by_all is FinalScore.UNRESOLVED
    assert pattern(author, other).refined is FinalScore.ABSENT


def test_scores_that_are_not_blind_count_where_nothing_is_hidden_and_stand_beside() -> None:
    seen = by(1, 2, is_blind=False)
    hidden = Judged(scores=(seen, by(2, 0)), wanted=2, verdict=Verdict.INCORRECT)

    assert pattern(seen, hides_verdict=False).script is FinalScore.CORRECT
    assert pattern_of(hidden) == ItemPattern(FinalScore.PENDING, verdict=Verdict.INCORRECT)
    with_it = pattern_of(hidden, Reading.WITH_NOT_BLIND)
    assert with_it is not None
    assert with_it.script is FinalScore.UNRESOLVED
    assert not_blind_of(hidden) == [(SCRIPT, 2)]


def test_without_who_was_called_in_the_first_reviewers_stand() -> None:
    item = Judged(scores=(by(1, 0), by(2, 2), by(3, 2, was_called_in=True)), wanted=3, called_in=1)
    without = pattern_of(item, Reading.WITHOUT_CALLED_IN)

    assert pattern(*item.scores, wanted=3).script is FinalScore.CORRECT
    assert without is not None
    assert without.script is FinalScore.UNRESOLVED


def test_a_reviewer_that_a_file_calls_called_in_is_none_of_those_wanted() -> None:
    item = Judged(scores=(by(1, 0), by(3, 2, was_called_in=True)), wanted=2)
    without = pattern_of(item, Reading.WITHOUT_CALLED_IN)

    assert without is not None
    assert without.script is FinalScore.PENDING


def test_without_a_first_quarter_its_reviewer_is_left_out_of_the_item() -> None:
    early = (by(1, 0, is_first_quarter=True), by(1, 1, REFINED))
    item = Judged(scores=(*early, by(2, 2)), wanted=2, has_refined=True)
    without = pattern_of(item, Reading.WITHOUT_FIRST_QUARTER)

    assert without is not None
    assert (without.script, without.refined) == (FinalScore.CORRECT, FinalScore.UNSCORED)


@pytest.mark.parametrize(
    ("state", "gone", "expected"),
    [
        pytest.param("open", frozenset(), FinalScore.PENDING, id="somebody may take their place"),
        pytest.param("closed", frozenset({1}), FinalScore.CORRECT, id="nobody else will come"),
    ],
)
def test_who_let_go_of_an_item_is_waited_for_until_it_is_closed(
    state: str, gone: frozenset[int], expected: FinalScore
) -> None:
    scores = [by(who, 0) for who in (1, 2, 3)] + [by(who, 2, REFINED) for who in (2, 3)]

    assert pattern(*scores, wanted=2, has_refined=True, gone=gone).refined is expected


@pytest.mark.parametrize(
    ("round_", "later", "expected"),
    [
        pytest.param(2, (None,), (Recommended.OTHER, FinalScore.CORRECT), id="its own score"),
        pytest.param(
            3, (None, 2), (Recommended.OTHER, FinalScore.CORRECT), id="the text of round 2"
        ),
        pytest.param(2, (1,), (Recommended.REFINED, FinalScore.ABSENT), id="the refined text"),
        pytest.param(2, (0,), (Recommended.FIRST, FinalScore.ABSENT), id="the text of the script"),
        pytest.param(None, (None,), (Recommended.OTHER, FinalScore.UNSCORED), id="of no round"),
    ],
)
def test_a_later_round_that_is_recommended_has_its_score(
    round_: int | None, later: tuple[int | None, ...], expected: tuple[Recommended, FinalScore]
) -> None:
    found = pattern(
        *(by(1, 0), by(1, 0, REFINED), by(1, 2, REFINED, round=2)),
        has_refined=True,
        later=later,
        recommended=Recommended.OTHER,
        recommended_round=round_,
    )
    assert (found.recommended, found.advised) == expected


@pytest.mark.parametrize(
    ("scores", "rest", "feedback"),
    [
        pytest.param([by(1, 0), by(2, 0)], {}, FinalScore.UNSCORED, id="both were shown it"),
        pytest.param(
            [by(1, 0), by(2, 0), by(1, 2, Stage.FEEDBACK)], {}, FinalScore.PENDING, id="one is done"
        ),
        pytest.param(
            [by(1, 0), by(2, 2), by(1, 2, Stage.FEEDBACK)],
            {},
            FinalScore.CORRECT,
            id="it opened for one alone",
        ),
        pytest.param(
            [by(1, 0), by(1, 2, Stage.FEEDBACK)],
            {},
            FinalScore.PENDING,
            id="the second may open it",
        ),
        pytest.param(
            [by(1, 0), by(2, 2), by(1, 2, Stage.FEEDBACK)],
            {"verdict": Verdict.INCORRECT, "has_refined": True},
            FinalScore.PENDING,
            id="a flag opened it for both",
        ),
        pytest.param(
            [by(1, 0), by(2, 0), by(1, 2, Stage.FEEDBACK)],
            {"cannot_judge": frozenset({2})},
            FinalScore.PENDING,
            id="the other can't judge it: two were wanted, one scored",
        ),
        pytest.param(
            [
                *(by(1, 0), by(2, 0), by(3, 0)),
                *(by(1, 2, Stage.FEEDBACK), by(2, 2, Stage.FEEDBACK, is_blind=False)),
                by(3, 2, Stage.FEEDBACK),
            ],
            {},
            FinalScore.CORRECT,
            id="somebody took the place of who was not blind",
        ),
    ],
)
def test_a_later_stage_waits_for_those_for_whom_it_opened(
    scores: list[GivenScore],
    rest: dict[str, Any],
    feedback: FinalScore,
) -> None:
    assert pattern(*scores, wanted=2, has_feedback=True, **rest).feedback is feedback


def test_with_several_wanted_two_at_least_must_have_scored_the_script() -> None:
    assert pattern(by(1, 2), wanted=2, cannot_judge=frozenset({2})).script is FinalScore.PENDING
    found = pattern(by(1, 2), by(2, 2), wanted=3, cannot_judge=frozenset({3}))
    assert found.script is FinalScore.CORRECT


def test_a_later_round_waits_for_those_for_whom_the_refined_script_opened() -> None:
    given = [by(1, 0), by(2, 2), by(1, 1, REFINED), by(1, 2, REFINED, round=2)]
    found = pattern(*given, wanted=2, has_refined=True, later=(None,))
    both = pattern(*given, by(2, 0, order=1), wanted=2, has_refined=True, later=(None,))

    assert (found.refined, found.later) == (FinalScore.PARTIAL, (FinalScore.CORRECT,))
    assert both.later == (FinalScore.PENDING,), "it opened for the other one too"


def test_the_adjudicator_is_asked_for_ties_and_for_what_opened_for_nobody() -> None:
    tie = Judged(scores=(by(1, 0), by(2, 1)), wanted=2)
    settled = {(SCRIPT, Arm.MODEL): 0}
    both_right = (by(1, 2), by(2, 2))
    overturned = Judged(scores=both_right, wanted=2, adjudicated=settled, has_feedback=True)

    assert stages_to_settle(tie) == [(SCRIPT, Arm.MODEL)]
    assert stages_to_settle(Judged(scores=tie.scores, wanted=2, adjudicated=settled)) == []
    assert stages_to_settle(overturned) == [(Stage.FEEDBACK, Arm.MODEL)]
    assert stages_to_settle(Judged(scores=both_right, wanted=2)) == []


def test_a_refined_text_that_is_the_script_takes_its_score() -> None:
    found = pattern(by(1, 2), by(1, 0, REFINED), has_refined=True, is_same=True)

    assert found.refined is FinalScore.CORRECT


def test_of_several_experts_refinements_the_earliest_counts() -> None:
    later = by(1, 0, REFINED, arm=Arm.EXPERT, text=9)
    earlier = by(2, 2, REFINED, arm=Arm.EXPERT, text=4)

    assert pattern(later, earlier).expert is FinalScore.CORRECT


@pytest.mark.parametrize(
    ("words", "place"),
    [(0, 0), (20, 0), (21, 1), (40, 1), (41, 2), (80, 2), (160, 3), (161, 4), (5000, 4)],
)
def test_feedback_is_classed_by_its_words(words: int, place: int) -> None:
    assert class_of_length(words) == place


@pytest.mark.parametrize(
    ("execution", "expected"), [(None, None), (1.0, True), (0.999, False), (0.0, False)]
)
def test_execution_succeeds_only_in_full(execution: float | None, expected: bool | None) -> None:
    assert pattern(by(1, 2), execution=execution).execution is expected


@pytest.mark.parametrize(
    ("values", "settled", "criteria"),
    [
        pytest.param((2, 2), 0, [Criterion.STRICT, Criterion.PARTIAL], id="against both"),
        pytest.param((1, 2), 0, [Criterion.PARTIAL], id="under strict they differed"),
        pytest.param((0, 1), 2, [Criterion.STRICT], id="under partial they differed"),
        pytest.param((0, 0, 1), 1, [], id="as strict had it, and partial was no agreement"),
        pytest.param((2,), 0, [], id="one score is no agreement"),
        pytest.param((), 0, [], id="nobody scored it"),
    ],
)
def test_an_adjudication_against_all_is_counted_by_criterion(
    values: tuple[int, ...], settled: int, criteria: list[Criterion]
) -> None:
    scores = tuple(by(reviewer, value) for reviewer, value in enumerate(values))
    judged = Judged(
        scores=scores, adjudicated={(SCRIPT, Arm.MODEL): settled}, wanted=max(1, len(values))
    )
    assert overturned_of(judged) == [(SCRIPT, criterion) for criterion in criteria]
