"""Which scores count: for the figures, and for agreement."""

from __future__ import annotations

import pytest

from pipeline.types import Arm, Verdict
from review.study import GivenScore, ItemPattern, Judged, Stage, pattern_of, values_given
from review.study.patterns import class_of_length
from review.study.types import Origin, Standing

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
        pytest.param([by(1, 2)], Standing.CORRECT, ((1, 2),), id="one score"),
        pytest.param(
            [by(1, 0, order=1), by(1, 2, order=2)],
            Standing.CORRECT,
            ((1, 2),),
            id="changed before anything later was shown",
        ),
        pytest.param(
            [by(1, 0, order=1), by(1, 2, order=2, is_blind=False)],
            Standing.INCORRECT,
            ((1, 0),),
            id="changed after, the value before counts",
        ),
        pytest.param(
            [by(1, 2, order=2, is_blind=False), by(1, 0, order=1)],
            Standing.INCORRECT,
            ((1, 0),),
            id="whatever the order of rows",
        ),
        pytest.param(
            [by(1, 1, order=1, is_blind=False), by(1, 2, order=2, is_blind=False)],
            Standing.PARTIAL,
            (),
            id="never blind: the first counts, but not for agreement",
        ),
        pytest.param(
            [by(1, 0), by(2, 2), by(3, 2, was_called_in=True)],
            Standing.CORRECT,
            ((1, 0), (2, 2)),
            id="somebody called in decides, and is left out of agreement",
        ),
    ],
)
def test_the_value_that_counts(
    scores: list[GivenScore], in_figures: Standing, in_agreement: tuple[tuple[int, int], ...]
) -> None:
    assert pattern(*scores).script is in_figures
    assert values_given(Judged(scores=tuple(scores)), SCRIPT) == in_agreement


def test_gold_training_and_repeats_bring_nothing() -> None:
    item = Judged(scores=(by(1, 2), by(2, 2)), is_real=False)

    assert pattern_of(item) is None
    assert values_given(item, SCRIPT) == ()


def test_an_adjudication_is_final_and_no_part_of_agreement() -> None:
    item = Judged(scores=(by(1, 0), by(2, 2)), adjudicated={(SCRIPT, Arm.MODEL): 1})

    assert pattern(*item.scores, adjudicated=item.adjudicated).script is Standing.PARTIAL
    assert values_given(item, SCRIPT) == ((1, 0), (2, 2))


def test_sham_scores_of_those_who_found_the_script_right_count_nowhere() -> None:
    scores = (by(1, 2), by(2, 0), by(3, 0), by(1, 0, REFINED), by(2, 2, REFINED))
    item = Judged(scores=scores, is_sham=True, verdict=Verdict.CORRECT, has_refined=True)

    assert pattern_of(item) == ItemPattern(
        Standing.INCORRECT, refined=Standing.CORRECT, verdict=Verdict.CORRECT, has_refined=True
    )
    assert values_given(item, REFINED) == ((2, 2),)


def test_what_a_flag_opened_is_no_sham() -> None:
    scores = (by(1, 2), by(1, 0, REFINED))

    assert pattern(*scores, is_sham=True, verdict=Verdict.INCORRECT).refined is Standing.INCORRECT


def test_a_run_without_a_script_is_wrong_by_rule() -> None:
    assert pattern(origin=Origin.FAILED).script is Standing.INCORRECT


def test_a_refined_score_shows_that_there_was_a_refined_script() -> None:
    assert pattern(by(1, 0), by(1, 2, REFINED)).has_refined
    assert not pattern(by(1, 0)).has_refined


def test_the_authors_scores_of_an_experts_refinement_are_kept_apart() -> None:
    author = by(1, 2, REFINED, arm=Arm.EXPERT, text=7, is_author=True)
    other = by(2, 0, REFINED, arm=Arm.EXPERT, text=7)

    assert pattern(author).expert is Standing.UNSCORED
    assert pattern(author).expert_by_all is Standing.CORRECT
    assert pattern(author, other).expert is Standing.INCORRECT
    assert pattern(author, other).expert_by_all is Standing.UNRESOLVED
    assert pattern(author, other).refined is Standing.UNSCORED


def test_of_several_experts_refinements_the_earliest_counts() -> None:
    later = by(1, 0, REFINED, arm=Arm.EXPERT, text=9)
    earlier = by(2, 2, REFINED, arm=Arm.EXPERT, text=4)

    assert pattern(later, earlier).expert is Standing.CORRECT


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
