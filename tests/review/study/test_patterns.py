"""Tests for which scores count for the figures, for agreement and for the final score of a stage."""

from __future__ import annotations

from itertools import permutations
from typing import Any

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
from review.study.final_scores import final_of
from review.study.patterns import class_of_length
from review.study.types import FinalScore, Origin, Recommended

SCRIPT, REFINED = Stage.SCRIPT, Stage.REFINED


def by(reviewer: int, value: int, stage: Stage = SCRIPT, **rest) -> GivenScore:
    return GivenScore(reviewer=reviewer, stage=stage, value=value, **rest)


def pattern(*scores: GivenScore, **rest) -> ItemPattern:
    return pattern_of(Judged(scores=scores, **rest))


NOT_BLIND, UNDONE = {"is_blind": False}, {"is_undone": True}
# Scores, the final score in the figures, and the values for agreement.
COUNTING: dict[str, tuple[list[GivenScore], FinalScore, tuple[tuple[int, int], ...]]] = {
    "one score": ([by(1, 2)], FinalScore.CORRECT, ((1, 2),)),
    "changed before anything later was shown": (
        [by(1, 0, order=1), by(1, 2, order=2)],
        *(FinalScore.CORRECT, ((1, 2),)),
    ),
    "changed after, so the value before counts": (
        [by(1, 0, order=1), by(1, 2, order=2, **NOT_BLIND)],
        *(FinalScore.INCORRECT, ((1, 0),)),
    ),
    "the same in another order of rows": (
        [by(1, 2, order=2, **NOT_BLIND), by(1, 0, order=1)],
        *(FinalScore.INCORRECT, ((1, 0),)),
    ),
    "never blind, so it decides nothing": (
        [by(1, 1, order=1, **NOT_BLIND), by(1, 2, order=2, **NOT_BLIND)],
        *(FinalScore.PENDING, ()),
    ),
    "undone and given again": (
        [by(1, 0, order=1, **UNDONE), by(1, 2, order=2)],
        *(FinalScore.CORRECT, ((1, 2),)),
    ),
    "changed, and the change undone": (
        [by(1, 0, order=1), by(1, 2, order=2, **UNDONE)],
        *(FinalScore.INCORRECT, ((1, 0),)),
    ),
    "undone after it had opened the feedback, so the value before counts": (
        [by(1, 0, order=1, **UNDONE), by(1, 2, order=2, **NOT_BLIND)],
        *(FinalScore.INCORRECT, ((1, 0),)),
    ),
    "undone": ([by(1, 0, **UNDONE)], FinalScore.UNSCORED, ()),
    "a reviewer called in decides, and is left out of agreement": (
        [by(1, 0), by(2, 2), by(3, 2, was_called_in=True)],
        *(FinalScore.CORRECT, ((1, 0), (2, 2))),
    ),
}


def test_the_value_that_counts() -> None:
    found = {
        name: (scores, pattern(*scores).script, values_given(Judged(scores=tuple(scores)), SCRIPT))
        for name, (scores, *_rest) in COUNTING.items()
    }
    assert found == COUNTING


def test_only_real_scores_count_and_adjudication_is_final() -> None:
    item = Judged(scores=(by(1, 2), by(2, 2)), is_real=False)

    assert pattern_of(item) is None
    assert values_given(item, SCRIPT) == ()
    item = Judged(scores=(by(1, 0), by(2, 2)), adjudicated={(SCRIPT, Arm.MODEL): 1})

    assert pattern(*item.scores, adjudicated=item.adjudicated).script is FinalScore.PARTIAL
    assert values_given(item, SCRIPT) == ((1, 0), (2, 2))


def test_sham_scores_count_only_after_a_wrong_script() -> None:
    scores = (by(1, 2), by(2, 0), by(3, 0), by(1, 0, REFINED), by(2, 2, REFINED))
    item = Judged(scores=scores, is_sham=True, verdict=Verdict.CORRECT, has_refined=True)

    assert pattern_of(item) == ItemPattern(
        FinalScore.INCORRECT, refined=FinalScore.CORRECT, verdict=Verdict.CORRECT
    )
    assert values_given(item, REFINED) == ((2, 2),)
    scores = (by(1, 2), by(1, 0, REFINED))

    assert pattern(*scores, is_sham=True, verdict=Verdict.INCORRECT).refined is FinalScore.INCORRECT


def test_script_or_refinement_is_known_without_a_score() -> None:
    assert pattern(origin=Origin.FAILED).script is FinalScore.INCORRECT
    assert pattern(by(1, 0), by(1, 2, REFINED)).has_refined
    assert not pattern(by(1, 0)).has_refined
    found = pattern(by(1, 2), by(1, 0, REFINED), has_refined=True, is_same=True)

    assert found.refined is FinalScore.CORRECT


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
    assert with_it.script is FinalScore.UNRESOLVED
    assert not_blind_of(hidden) == [(SCRIPT, 2)]


def test_called_in_reviewer_is_not_among_those_wanted() -> None:
    item = Judged(scores=(by(1, 0), by(2, 2), by(3, 2, was_called_in=True)), wanted=3, called_in=1)
    without = pattern_of(item, Reading.WITHOUT_CALLED_IN)

    assert pattern(*item.scores, wanted=3).script is FinalScore.CORRECT
    assert without.script is FinalScore.UNRESOLVED
    item = Judged(scores=(by(1, 0), by(3, 2, was_called_in=True)), wanted=2)
    without = pattern_of(item, Reading.WITHOUT_CALLED_IN)

    assert without.script is FinalScore.PENDING


def test_without_a_first_quarter_its_reviewer_is_left_out_of_the_item() -> None:
    early = (by(1, 0, is_first_quarter=True), by(1, 1, REFINED))
    item = Judged(scores=(*early, by(2, 2)), wanted=2, has_refined=True)
    without = pattern_of(item, Reading.WITHOUT_FIRST_QUARTER)

    assert (without.script, without.refined) == (FinalScore.CORRECT, FinalScore.UNSCORED)


def test_a_reviewer_who_let_go_of_an_item_is_waited_for_until_it_is_closed() -> None:
    scores = [by(who, 0) for who in (1, 2, 3)] + [by(who, 2, REFINED) for who in (2, 3)]
    is_open, is_closed = (
        pattern(*scores, wanted=2, has_refined=True, gone=gone)
        for gone in (frozenset[int](), frozenset({1}))
    )
    assert (is_open.refined, is_closed.refined) == (FinalScore.PENDING, FinalScore.CORRECT)


def test_a_later_round_that_is_recommended_has_its_score() -> None:
    """The keys are the recommended round and, for each later round, the earlier round with the same text."""
    wanted: dict[tuple[int | None, tuple[int | None, ...]], tuple[Recommended, FinalScore]] = {
        (2, (None,)): (Recommended.OTHER, FinalScore.CORRECT),
        (3, (None, 2)): (Recommended.OTHER, FinalScore.CORRECT),
        (2, (1,)): (Recommended.REFINED, FinalScore.ABSENT),
        (2, (0,)): (Recommended.FIRST, FinalScore.ABSENT),
        (None, (None,)): (Recommended.OTHER, FinalScore.UNSCORED),
    }
    scores = (by(1, 0), by(1, 0, REFINED), by(1, 2, REFINED, round=2))
    rest = {"has_refined": True, "recommended": Recommended.OTHER}
    found = {
        (round_, later): pattern(*scores, later=later, recommended_round=round_, **rest)
        for round_, later in wanted
    }
    assert {key: (one.recommended, one.advised) for key, one in found.items()} == wanted


FEEDBACK = by(1, 2, Stage.FEEDBACK)
# Scores, additional data of the item, and the final score of the feedback.
OPENED: dict[str, tuple[list[GivenScore], dict[str, Any], FinalScore]] = {
    "both were shown it": ([by(1, 0), by(2, 0)], {}, FinalScore.UNSCORED),
    "one is done": ([by(1, 0), by(2, 0), FEEDBACK], {}, FinalScore.PENDING),
    "it opened for one alone": ([by(1, 0), by(2, 2), FEEDBACK], {}, FinalScore.CORRECT),
    "the second may open it": ([by(1, 0), FEEDBACK], {}, FinalScore.PENDING),
    "a flag opened it for both": (
        [by(1, 0), by(2, 2), FEEDBACK],
        {"verdict": Verdict.INCORRECT, "has_refined": True},
        FinalScore.PENDING,
    ),
    "the other can't judge it: two were wanted, one scored": (
        [by(1, 0), by(2, 0), FEEDBACK],
        {"cannot_judge": frozenset({2})},
        FinalScore.PENDING,
    ),
    "another reviewer replaced the one who was not blind": (
        [
            *(by(1, 0), by(2, 0), by(3, 0), FEEDBACK),
            *(by(2, 2, Stage.FEEDBACK, is_blind=False), by(3, 2, Stage.FEEDBACK)),
        ],
        {},
        FinalScore.CORRECT,
    ),
}


def test_later_stages_wait_for_those_they_opened_for() -> None:
    found = {
        name: (scores, rest, pattern(*scores, wanted=2, has_feedback=True, **rest).feedback)
        for name, (scores, rest, _final) in OPENED.items()
    }
    assert found == OPENED
    assert pattern(by(1, 2), wanted=2, cannot_judge=frozenset({2})).script is FinalScore.PENDING
    found = pattern(by(1, 2), by(2, 2), wanted=3, cannot_judge=frozenset({3}))
    assert found.script is FinalScore.CORRECT
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


def test_of_several_experts_refinements_the_earliest_counts() -> None:
    later = by(1, 0, REFINED, arm=Arm.EXPERT, text=9)
    earlier = by(2, 2, REFINED, arm=Arm.EXPERT, text=4)

    assert pattern(later, earlier).expert is FinalScore.CORRECT


def test_feedback_and_execution_are_classed() -> None:
    wanted = {0: 0, 20: 0, 21: 1, 40: 1, 41: 2, 80: 2, 160: 3, 161: 4, 5000: 4}
    assert {words: class_of_length(words) for words in wanted} == wanted
    wanted = {None: None, 1.0: True, 0.999: False, 0.0: False}
    assert {one: pattern(by(1, 2), execution=one).execution for one in wanted} == wanted


def test_an_adjudication_against_all_is_counted_by_criterion() -> None:
    """The keys are the scores and the adjudicated value."""
    wanted = {
        ((2, 2), 0): [Criterion.STRICT, Criterion.PARTIAL],
        # The reviewers disagreed under strict but agreed under partial.
        ((1, 2), 0): [Criterion.PARTIAL],
        ((0, 1), 2): [Criterion.STRICT],
        # Strict already had this value, and the reviewers disagreed under partial.
        ((0, 0, 1), 1): [],
        # Agreement needs at least two scores.
        ((2,), 0): [],
        ((), 0): [],
    }
    found = {}
    for values, settled in wanted:
        judged = Judged(
            scores=tuple(by(reviewer, value) for reviewer, value in enumerate(values)),
            adjudicated={(SCRIPT, Arm.MODEL): settled},
            wanted=max(1, len(values)),
        )
        overturned = overturned_of(judged)
        assert {stage for stage, _criterion in overturned} <= {SCRIPT}
        found[values, settled] = [criterion for _stage, criterion in overturned]
    assert found == wanted


FINALS: dict[tuple[int, ...], FinalScore] = {
    (): FinalScore.UNSCORED,
    (1,): FinalScore.PARTIAL,
    (2, 2): FinalScore.CORRECT,
    # The mean of 0 and 2 is 1, but no reviewer gave this score.
    (0, 2): FinalScore.UNRESOLVED,
    # Wrong under strict and a tie under partial, and vice versa.
    (0, 1): FinalScore.BELOW,
    (1, 2): FinalScore.ABOVE,
    (0, 0, 2): FinalScore.INCORRECT,
    # Three scores never tie.
    (0, 1, 2): FinalScore.PARTIAL,
    # Three of four are wrong, and three of four are at least partly right.
    (0, 1, 1, 2): FinalScore.PARTIAL,
    (0, 0, 1, 1): FinalScore.BELOW,
    (0, 0, 2, 2): FinalScore.UNRESOLVED,
    (0, 0, 1, 2): FinalScore.BELOW,
    (0, 1, 2, 2): FinalScore.ABOVE,
    (0, 0, 1, 2, 2): FinalScore.PARTIAL,
    (0, 0, 0, 2, 2): FinalScore.INCORRECT,
}


def test_a_final_score_in_any_order_of_reviewers() -> None:
    found = {values: {final_of(order) for order in permutations(values)} for values in FINALS}
    assert found == {values: {final} for values, final in FINALS.items()}
    # The adjudicated score overrides all others. If a score is missing, the stage is pending.
    assert final_of((0, 0, 0), adjudicated=2) is FinalScore.CORRECT
    assert final_of((), adjudicated=0) is FinalScore.INCORRECT
    assert final_of((0,), adjudicated=1, is_complete=False) is FinalScore.PARTIAL
    assert final_of((2, 2), is_complete=False) is FinalScore.PENDING
    assert final_of((), is_complete=False) is FinalScore.UNSCORED
