"""Convert an item's scores to its pattern: select the deciding scores, and check which stages are complete."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from enum import StrEnum

from pipeline.types import Arm, Verdict
from review.study.final_scores import final_of
from review.study.types import (
    Criterion,
    FinalScore,
    GivenScore,
    ItemPattern,
    Judged,
    Origin,
    Recommended,
    Stage,
)

# Upper limits of the feedback length classes, in words. The last class has no limit.
LENGTHS = (20, 40, 80, 160)
ReviewerValues = Sequence[tuple[int, int]]  # (reviewer, value), sorted by reviewer
_LATER = (Stage.FEEDBACK, Stage.REFINED)


class Reading(StrEnum):
    """A rule that selects the deciding scores. The study uses `PLAIN`.

    The other readings show how much the figures depend on this rule.
    """

    PLAIN = "plain"
    WITH_NOT_BLIND = "with_not_blind"
    WITHOUT_CALLED_IN = "without_called_in"
    # Excludes a reviewer from an item if any of their scores for the item is in the first quarter of their scores.
    WITHOUT_FIRST_QUARTER = "without_first_quarter"


def pattern_of(judged: Judged, reading: Reading = Reading.PLAIN) -> ItemPattern | None:
    """Return the item's contribution to the figures, or None for gold items, training items and repeats."""
    if not judged.is_real:
        return None
    finals = _Finals(judged, reading)
    script = finals.of(Stage.SCRIPT)
    same = judged.is_same and judged.has_refined and judged.origin is not Origin.FAILED
    refined = script if same else finals.of(Stage.REFINED)
    later = finals.of_later(script, refined)
    recommended, advised = _advised(judged, later)
    return ItemPattern(
        script=script,
        feedback=finals.of(Stage.FEEDBACK),
        refined=refined,
        verdict=judged.verdict,
        origin=judged.origin,
        recommended=recommended,
        advised=advised,
        is_running=not judged.is_over,
        # `is_same` is irrelevant once the script has a final score.
        is_same=same and any(script.right(criterion) is None for criterion in Criterion),
        execution=None if judged.execution is None else judged.execution >= 1,
        execution_reason=judged.execution_reason,
        expert=finals.of_expert(with_authors=False),
        expert_by_all=finals.of_expert(with_authors=True),
        length=None if judged.feedback_words is None else class_of_length(judged.feedback_words),
        was_skipped=judged.was_skipped,
        later=later,
    )


def _advised(judged: Judged, later: Sequence[FinalScore]) -> tuple[Recommended, FinalScore]:
    """Return the recommended Draft (or the earliest equal Draft), and its score if it is from a later round."""
    if judged.recommended is not Recommended.OTHER:
        return judged.recommended, FinalScore.ABSENT
    round_ = judged.recommended_round
    if round_ is None or round_ - 2 >= len(later):
        return Recommended.OTHER, FinalScore.UNSCORED
    while round_ >= 2 and (same := judged.later[round_ - 2]) is not None:
        round_ = same
    if round_ < 2:
        return (Recommended.FIRST, Recommended.REFINED)[round_], FinalScore.ABSENT
    return Recommended.OTHER, later[round_ - 2]


def values_given(judged: Judged, stage: Stage) -> ReviewerValues:
    """Return the value of each reviewer at a stage, for agreement but not for the figures.

    Gold items, training items, repeats, sham stages and adjudications are excluded. Scores given after a later stage or
    another reviewer's score was visible are also excluded. Tie-breakers are excluded because they see only
    disagreements.
    """
    if not judged.is_real:
        return ()
    own = (one for one in _of_stage(_without_sham(judged), stage) if not one.was_called_in)
    return tuple(sorted(value_by_reviewer(own, hides=judged.hides_verdict).items()))


def stages_to_settle(judged: Judged) -> list[tuple[Stage, Arm]]:
    """Return the stages that need an adjudicator, in order.

    A stage needs an adjudicator if it is unresolved under either criterion. Feedback and refined script also need an
    adjudicator if all reviewers gave the script 2 and its adjudicator gave less, because no reviewer scored them.
    """
    if not judged.is_real:
        return []
    finals = _Finals(judged, Reading.PLAIN)
    found = []
    for stage in Stage:
        final = finals.of(stage)
        if judged.is_same and stage is Stage.REFINED:
            continue
        if final.needs_adjudicator or finals.is_left_to_adjudicator(stage, final):
            found.append((stage, Arm.MODEL))
    if finals.of_expert(with_authors=False).needs_adjudicator:
        found.append((Stage.REFINED, Arm.EXPERT))
    return found


def overturned_of(judged: Judged) -> list[tuple[Stage, Criterion]]:
    """Return the stages and criteria for which an adjudication overruled at least two unanimous reviewers."""
    if not judged.is_real:
        return []
    found = []
    for (stage, arm), settled in judged.adjudicated.items():
        scores = list(_of_stage(_without_sham(judged), stage)) if arm is Arm.MODEL else []
        values = value_by_reviewer(scores, hides=judged.hides_verdict).values()
        for criterion in Criterion:
            right = {value >= criterion.least for value in values}
            if len(values) > 1 and right == {settled < criterion.least}:
                found.append((stage, criterion))
    return found


def not_blind_of(judged: Judged) -> list[tuple[Stage, int]]:
    """Return the stage and value of each score that is excluded because it is not blind."""
    if not (judged.is_real and judged.hides_verdict):
        return []
    found = []
    for stage in Stage:
        scores = list(_of_stage(_without_sham(judged), stage))
        blind = value_by_reviewer(scores, hides=True)
        every = value_by_reviewer(scores, hides=False)
        found += [(stage, value) for reviewer, value in every.items() if reviewer not in blind]
    return found


def class_of_length(words: int) -> int:
    """Return the length class of feedback with this many words, from 0 to len(LENGTHS)."""
    return bisect_left(LENGTHS, words)


def value_by_reviewer(scores: Iterable[GivenScore], *, hides: bool) -> dict[int, int]:
    """Return the value of each reviewer's deciding score (see `score_by_reviewer`)."""
    return {
        reviewer: score.value for reviewer, score in score_by_reviewer(scores, hides=hides).items()
    }


def score_by_reviewer(scores: Iterable[GivenScore], *, hides: bool) -> dict[int, GivenScore]:
    """Return the deciding score of each reviewer for one text: the newest blind score.

    A reviewer without a blind score has no deciding score if the campaign `hides` verdicts. Otherwise, the reviewer's
    first score decides. An undone score is ignored unless the reviewer gave another score later.
    """
    given: dict[int, list[GivenScore]] = defaultdict(list)
    for score in sorted(scores, key=lambda score: score.order):
        given[score.reviewer].append(score)
    found: dict[int, GivenScore] = {}
    for reviewer, own in given.items():
        while own and own[-1].is_undone:
            own.pop()
        blind = [score for score in own if score.is_blind]
        if blind:
            found[reviewer] = blind[-1]
        elif own and not hides:
            found[reviewer] = own[0]
    return found


def scores_used(judged: Judged) -> list[GivenScore]:
    """Return the deciding scores, one per reviewer and text. Gold items, training items and repeats have none."""
    if not judged.is_real or judged.origin is Origin.FAILED:
        return []
    return [
        used
        for scores in _by_text(_without_sham(judged)).values()
        for used in score_by_reviewer(scores, hides=judged.hides_verdict).values()
    ]


_Text = tuple[Stage, Arm, int, int]


def values_by_text(scores: Iterable[GivenScore], *, hides: bool) -> dict[_Text, dict[int, int]]:
    """Return each reviewer's deciding value for each text of an item. The key is stage, arm, author and round."""
    return {text: value_by_reviewer(given, hides=hides) for text, given in _by_text(scores).items()}


def _by_text(scores: Iterable[GivenScore]) -> dict[_Text, list[GivenScore]]:
    found: dict[_Text, list[GivenScore]] = defaultdict(list)
    for score in scores:
        found[score.stage, score.arm, score.text, score.round].append(score)
    return found


class _Finals:
    """The final scores of one item's stages, under one reading."""

    def __init__(self, judged: Judged, reading: Reading) -> None:
        self._judged = judged
        self._hides = judged.hides_verdict and reading is not Reading.WITH_NOT_BLIND
        scores = _without_sham(judged)
        called = {one.reviewer for one in scores if one.was_called_in}
        self._wanted = judged.wanted
        if reading is Reading.WITHOUT_CALLED_IN and called:
            scores = [one for one in scores if not one.was_called_in]
            # In imported files, `wanted` sometimes excludes the added reviewers.
            self._wanted = max(1, judged.wanted - judged.called_in)
        early = {one.reviewer for one in scores if one.is_first_quarter}
        if reading is Reading.WITHOUT_FIRST_QUARTER and early:
            scores = [one for one in scores if one.reviewer not in early]
            self._wanted = max(1, judged.wanted - len(early))
        self._scores = scores
        self._script = self._values(Stage.SCRIPT)

    def of(self, stage: Stage) -> FinalScore:
        """Return the final score of the stage, or the reason why the stage has none."""
        judged = self._judged
        if judged.origin is Origin.FAILED:
            # The study's rules count a Run that ended without a script as 0.
            return FinalScore.INCORRECT if stage is Stage.SCRIPT else FinalScore.ABSENT
        values = self._values(stage)
        final = final_of(
            values.values(),
            adjudicated=judged.adjudicated.get((stage, Arm.MODEL)),
            is_complete=self._is_complete(stage, values),
        )
        if final is not FinalScore.UNSCORED:
            return final
        if any(not one.is_undone for one in _of_stage(self._scores, stage)):
            return FinalScore.PENDING  # the stage has scores, but no deciding scores
        return FinalScore.UNSCORED if self._exists(stage) else FinalScore.ABSENT

    def of_expert(self, *, with_authors: bool) -> FinalScore:
        """Return the final score of the refinement from an expert's feedback.

        If an item has more than one such refinement, only the earliest scored refinement counts.
        """
        given = [
            one
            for one in self._scores
            if one.arm is Arm.EXPERT
            and one.stage is Stage.REFINED
            and (with_authors or not one.is_author)
        ]
        text = min((one.text for one in given), default=0)
        values = value_by_reviewer((one for one in given if one.text == text), hides=self._hides)
        adjudicated = self._judged.adjudicated.get((Stage.REFINED, Arm.EXPERT))
        final = final_of(values.values(), adjudicated=adjudicated)
        return FinalScore.ABSENT if final is FinalScore.UNSCORED else final

    def of_later(self, script: FinalScore, refined: FinalScore) -> tuple[FinalScore, ...]:
        """Return the final scores of the refined Drafts from round 2 on. Equal texts have equal scores."""
        found = [script, refined]
        for round_, same in enumerate(self._judged.later, start=2):
            if same is not None:
                found.append(found[same])
                continue
            given = [
                one
                for one in self._scores
                if one.stage is Stage.REFINED and one.arm is Arm.MODEL and one.round == round_
            ]
            values = value_by_reviewer(given, hides=self._hides)
            # The stage opens with the refined script of round 1, for the same reviewers.
            is_complete = self._is_complete(Stage.REFINED, values, given)
            found.append(final_of(values.values(), is_complete=is_complete))
        return tuple(found[2:])

    def is_left_to_adjudicator(self, stage: Stage, final: FinalScore) -> bool:
        """Return whether adjudication made a later stage necessary that no reviewer could score."""
        settled = self._judged.adjudicated.get((Stage.SCRIPT, Arm.MODEL))
        return (
            stage in _LATER
            and final is FinalScore.UNSCORED
            and settled is not None
            and settled < 2
            and self._is_complete(Stage.SCRIPT, self._script)
            and not self._opened()
        )

    def _values(self, stage: Stage) -> dict[int, int]:
        return value_by_reviewer(_of_stage(self._scores, stage), hides=self._hides)

    def _exists(self, stage: Stage) -> bool:
        judged = self._judged
        if stage is Stage.SCRIPT or not judged.is_over:
            return True
        return judged.has_feedback if stage is Stage.FEEDBACK else judged.has_refined

    def _opened(self) -> set[int]:
        """Return the reviewers who can score the stages after the script and are still assigned."""
        judged = self._judged
        every = judged.verdict is Verdict.INCORRECT and judged.has_refined
        opened = {reviewer for reviewer, value in self._script.items() if every or value < 2}
        return opened - judged.gone

    def _is_complete(
        self, stage: Stage, values: dict[int, int], scores: Iterable[GivenScore] | None = None
    ) -> bool:
        """Return whether all required reviewers have finished the stage, with at least two scores if two are required.

        `scores` are the scores of a later round. By default, the scores of the first round are used.
        """
        if self._wanted <= 1:
            return True
        done = values.keys() | self._judged.cannot_judge
        if stage is Stage.SCRIPT:
            return len(done) >= self._wanted and len(values) >= 2
        if not self._is_complete(Stage.SCRIPT, self._script):
            return False
        opened = self._opened()
        # A reviewer whose score of the stage is not blind is not required, because a different reviewer replaces them.
        of_stage = _of_stage(self._scores, stage) if scores is None else scores
        given = {one.reviewer for one in of_stage}
        if opened - done - given:
            return False
        asked = min(len(opened), self._wanted)
        return len(done & opened) >= asked and len(values) >= min(2, asked)


def _of_stage(scores: Iterable[GivenScore], stage: Stage) -> Iterable[GivenScore]:
    """Return the scores of the stage in the model's arm and in the first round, which the figures use."""
    return (one for one in scores if one.stage is stage and one.arm is Arm.MODEL and one.round == 1)


def _without_sham(judged: Judged) -> list[GivenScore]:
    """Return the scores except those of sham stages, which are shown to reviewers who scored the script as correct."""
    if not judged.is_sham or judged.verdict is Verdict.INCORRECT:
        return list(judged.scores)
    own = value_by_reviewer(
        (one for one in judged.scores if one.stage is Stage.SCRIPT), hides=judged.hides_verdict
    )
    return [
        score
        for score in judged.scores
        if score.stage is Stage.SCRIPT or score.arm is Arm.EXPERT or own.get(score.reviewer, 0) < 2
    ]
