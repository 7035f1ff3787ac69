"""From one item's scores to its pattern: which scores count, and which value of each reviewer."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from pipeline.types import Arm, Verdict
from review.study.final_scores import final_of
from review.study.types import (
    GivenScore,
    ItemPattern,
    Judged,
    Origin,
    Stage,
    Standing,
)

# The most words of each class of feedback; what is longer is in the last class.
LENGTHS = (20, 40, 80, 160)
ReviewerValues = Sequence[tuple[int, int]]  # reviewer and value, in the order of reviewers


def pattern_of(judged: Judged) -> ItemPattern | None:
    """What the item brings to the figures; None for gold, training and repeats, which bring nothing."""
    if not judged.is_real:
        return None
    scores = _without_sham(judged)
    refined = _final(judged, scores, Stage.REFINED)
    failed = judged.origin is Origin.FAILED
    return ItemPattern(
        # A Run that ended without a script counts as 0 by rule; there is nothing to score.
        script=Standing.INCORRECT if failed else _final(judged, scores, Stage.SCRIPT),
        feedback=_final(judged, scores, Stage.FEEDBACK),
        refined=refined,
        verdict=judged.verdict,
        origin=judged.origin,
        # Labels made elsewhere may come without the text that they are about.
        has_refined=judged.has_refined or refined is not Standing.UNSCORED,
        recommended=judged.recommended,
        execution=None if judged.execution is None else judged.execution >= 1,
        execution_reason=judged.execution_reason,
        expert=_final_of_expert(judged, [score for score in scores if not score.is_author]),
        expert_by_all=_final_of_expert(judged, scores),
        length=None if judged.feedback_words is None else class_of_length(judged.feedback_words),
        was_skipped=judged.was_skipped,
        later=tuple(final_of(values, is_complete=judged.is_complete) for values in judged.later),
    )


def values_given(judged: Judged, stage: Stage) -> ReviewerValues:
    """What each reviewer gave for themselves: for agreement, not for the figures.

    Left out are gold, training and repeats, sham, adjudications, scores given after anything later or
    anybody else's was visible, and those of people called in because others differed: they see
    disagreements only.
    """
    if not judged.is_real:
        return ()
    own = (
        score
        for score in _without_sham(judged)
        if score.stage is stage
        and score.arm is Arm.MODEL
        and score.is_blind
        and not score.was_called_in
        and not score.is_copied
    )
    return tuple(sorted(_value_by_reviewer(own).items()))


def class_of_length(words: int) -> int:
    """The class of a feedback of so many words: 0 to len(LENGTHS)."""
    return bisect_left(LENGTHS, words)


def _final(judged: Judged, scores: Iterable[GivenScore], stage: Stage) -> Standing:
    given = (score for score in scores if score.stage is stage and score.arm is Arm.MODEL)
    return final_of(
        list(_value_by_reviewer(given).values()),
        adjudicated=judged.adjudicated.get((stage, Arm.MODEL)),
        is_complete=judged.is_complete,
    )


def _final_of_expert(judged: Judged, scores: Iterable[GivenScore]) -> Standing:
    """The refinement from an expert's feedback; of several experts', the earliest that was scored."""
    given = [score for score in scores if score.stage is Stage.REFINED and score.arm is Arm.EXPERT]
    text = min((score.text for score in given), default=0)
    return final_of(
        list(_value_by_reviewer(score for score in given if score.text == text).values()),
        adjudicated=judged.adjudicated.get((Stage.REFINED, Arm.EXPERT)),
        is_complete=judged.is_complete,
    )


def _value_by_reviewer(scores: Iterable[GivenScore]) -> dict[int, int]:
    """Of each reviewer the last value given blind; where none was, the first they gave."""
    values: dict[int, int] = {}
    blind: set[int] = set()
    for score in sorted(scores, key=lambda score: score.order):
        if score.is_blind:
            blind.add(score.reviewer)
            values[score.reviewer] = score.value
        elif score.reviewer not in blind:
            values.setdefault(score.reviewer, score.value)
    return values


def _without_sham(judged: Judged) -> list[GivenScore]:
    """The scores without those of later stages that were shown as a sham to whoever found the script right."""
    if not judged.is_sham or judged.verdict is Verdict.INCORRECT:
        return list(judged.scores)
    own = _value_by_reviewer(score for score in judged.scores if score.stage is Stage.SCRIPT)
    return [
        score
        for score in judged.scores
        if score.stage is Stage.SCRIPT or score.arm is Arm.EXPERT or own.get(score.reviewer, 0) < 2
    ]
