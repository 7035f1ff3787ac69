"""Converts an item's scores to its pattern: determines which scores count and which reviewers still have to score the
item.
"""

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

# Upper limits of the length classes of feedback, in words. The last class has no limit.
LENGTHS = (20, 40, 80, 160)
ReviewerValues = Sequence[tuple[int, int]]  # (reviewer, value), sorted by reviewer
_LATER = (Stage.FEEDBACK, Stage.REFINED)


class Reading(StrEnum):
    """A rule for which scores decide. The study uses `PLAIN`. The other readings show how much the figures depend on
    this choice.
    """

    PLAIN = "plain"
    WITH_NOT_BLIND = "with_not_blind"
    WITHOUT_CALLED_IN = "without_called_in"
    # Excludes a reviewer from an item if any of the reviewer's scores for the item is in the first
    # quarter of the reviewer's scores.
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
        # `is_same` matters only until the script has a final score.
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
    """Return which Draft is recommended (the earliest with the same text), and its score if it is from a later
    round.
    """
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
    """Return each reviewer's own value, for agreement but not for the figures.

    Gold items, training items, repeats, sham stages and adjudications are excluded. So are scores given after a later
    stage or another reviewer's score was visible, and scores by reviewers who were added because others differed,
    because these reviewers see only disagreements.
    """
    if not judged.is_real:
        return ()
    own = (one for one in _of_stage(_without_sham(judged), stage) if not one.was_called_in)
    return tuple(sorted(value_by_reviewer(own, hides=judged.hides_verdict).items()))


def stages_to_settle(judged: Judged) -> list[tuple[Stage, Arm]]:
    """Return the stages that need an adjudicator, in order.

    These are the stages that are unresolved under either criterion. Feedback and refined script are included too if the
    script was adjudicated to less than 2 after all reviewers gave 2, because those stages were not opened for any
    reviewer.
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
    """Return the results that an adjudication reversed although at least two reviewers agreed under that criterion."""
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
    """Return the stage and value of each score that is not used because more was visible than its stage shows."""
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
    """Return the value that counts for each reviewer, see `score_by_reviewer`."""
    return {
        reviewer: score.value for reviewer, score in score_by_reviewer(scores, hides=hides).items()
    }


def score_by_reviewer(scores: Iterable[GivenScore], *, hides: bool) -> dict[int, GivenScore]:
    """Return the score of one text that counts for each reviewer: the newest one that was given blind.

    Without a blind score, the reviewer has no score in a campaign that `hides` verdicts, and otherwise the reviewer's
    first score counts. An undone score counts only if the reviewer gave another score later.
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
    """Return the scores that decide: one per reviewer and text. Gold items, training items and repeats have none."""
    if not judged.is_real or judged.origin is Origin.FAILED:
        return []
    return [
        used
        for scores in _by_text(_without_sham(judged)).values()
        for used in score_by_reviewer(scores, hides=judged.hides_verdict).values()
    ]


_Text = tuple[Stage, Arm, int, int]


def values_by_text(scores: Iterable[GivenScore], *, hides: bool) -> dict[_Text, dict[int, int]]:
    """Return each reviewer's counted value, for each text of an item by stage, arm, author and round."""
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
            # In an imported file, the added reviewers may not be among the required reviewers.
            self._wanted = max(1, judged.wanted - judged.called_in)
        early = {one.reviewer for one in scores if one.is_first_quarter}
        if reading is Reading.WITHOUT_FIRST_QUARTER and early:
            scores = [one for one in scores if one.reviewer not in early]
            self._wanted = max(1, judged.wanted - len(early))
        self._scores = scores
        self._script = self._values(Stage.SCRIPT)

    def of(self, stage: Stage) -> FinalScore:
        """Return the final score of the stage, or the reason why it has none."""
        judged = self._judged
        if judged.origin is Origin.FAILED:
            # A Run that ended without a script counts as 0 under the study's rules. There is nothing to score.
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
            return FinalScore.PENDING  # only scores that do not decide
        return FinalScore.UNSCORED if self._exists(stage) else FinalScore.ABSENT

    def of_expert(self, *, with_authors: bool) -> FinalScore:
        """Return the score of the refinement from an expert's feedback. If there are several, the one that was scored
        first counts.
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
        """Return the scores of the refined Drafts of rounds 2, 3 and later. A repeated text takes its earlier score."""
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
            # The stage opens together with the refined script, for the same reviewers.
            is_complete = self._is_complete(Stage.REFINED, values, given)
            found.append(final_of(values.values(), is_complete=is_complete))
        return tuple(found[2:])

    def is_left_to_adjudicator(self, stage: Stage, final: FinalScore) -> bool:
        """Return whether a later stage is needed but was not opened for any reviewer, because the script was
        adjudicated.
        """
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
        """Return the reviewers who see the stages after the script, except those who no longer hold the item."""
        judged = self._judged
        every = judged.verdict is Verdict.INCORRECT and judged.has_refined
        opened = {reviewer for reviewer, value in self._script.items() if every or value < 2}
        return opened - judged.gone

    def _is_complete(
        self, stage: Stage, values: dict[int, int], scores: Iterable[GivenScore] | None = None
    ) -> bool:
        """Return whether all requested reviewers have finished the stage. If several were requested, at least two must
        have scored.

        `scores` are the stage's scores, if other than those of the first round.
        """
        if self._wanted <= 1:
            return True
        done = values.keys() | self._judged.cannot_judge
        if stage is Stage.SCRIPT:
            return len(done) >= self._wanted and len(values) >= 2
        if not self._is_complete(Stage.SCRIPT, self._script):
            return False
        opened = self._opened()
        # A reviewer who scored the stage after seeing more is no longer needed, because another reviewer replaces them.
        of_stage = _of_stage(self._scores, stage) if scores is None else scores
        given = {one.reviewer for one in of_stage}
        if opened - done - given:
            return False
        asked = min(len(opened), self._wanted)
        return len(done & opened) >= asked and len(values) >= min(2, asked)


def _of_stage(scores: Iterable[GivenScore], stage: Stage) -> Iterable[GivenScore]:
    """Return the scores that the figures use: those in the model's arm and, for refined scripts, in the first round."""
    return (one for one in scores if one.stage is stage and one.arm is Arm.MODEL and one.round == 1)


def _without_sham(judged: Judged) -> list[GivenScore]:
    """Return the scores without those of sham stages, which are shown to reviewers who scored the script as correct."""
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
