"""What one item brings to the figures, and the small pattern that is counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from pipeline.types import Arm, Verdict

VALUES = (0, 1, 2)


class Stage(StrEnum):
    SCRIPT = "script"
    FEEDBACK = "feedback"
    REFINED = "refined"


class Criterion(StrEnum):
    """When a score is right. It holds for script, feedback and refined script alike."""

    STRICT = "strict"
    PARTIAL = "partial"

    @property
    def least(self) -> int:
        """The lowest score that is right."""
        return 2 if self is Criterion.STRICT else 1


class Standing(StrEnum):
    """Where the final score of a stage stands: a value, or why there is none. One character each."""

    INCORRECT = "0"
    PARTIAL = "1"
    CORRECT = "2"
    UNRESOLVED = "u"  # the reviewers differ and nobody has adjudicated
    PENDING = "p"  # scored, but not yet by everyone asked
    UNSCORED = "-"

    def right(self, criterion: Criterion) -> bool | None:
        """Whether the final score is right; None where there is no final score."""
        return _RIGHT[criterion][self]


# Looked up and not worked out: a report asks it of thousands of patterns, time and again.
_RIGHT = {
    criterion: {
        one: int(one.value) >= criterion.least if one.value in "012" else None for one in Standing
    }
    for criterion in Criterion
}


class Origin(StrEnum):
    """How the first Draft came about."""

    MADE = "made"
    REPAIRED = "repaired"  # generated, then mended once where the syntax check reported an error
    RETRIEVED = "retrieved"  # from the catalogue: in no model figure
    FAILED = "failed"  # the Run ended without a script


class Recommended(StrEnum):
    """Which Draft the product recommends, after the guard."""

    FIRST = "first"
    REFINED = "refined"
    OTHER = "other"  # one that no stage scores, of a later round
    NONE = "none"


@dataclass(frozen=True, kw_only=True)
class GivenScore:
    """One score as it was given. Empty, skipped and *cannot judge* are not scores, and not here; nor are
    hidden repeats and scores given for the halo check, which are compared on their own.

    `order` grows with time. `text` tells an expert's refinements apart; the model's arm has one text a stage.
    """

    reviewer: int
    stage: Stage
    value: int
    order: int = 0
    arm: Arm = Arm.MODEL
    text: int = 0
    is_blind: bool = True  # given before anything later, or anybody else's, was visible
    was_called_in: bool = False  # to an item whose reviewers differed
    is_author: bool = False  # of the feedback that the text was made from
    is_copied: bool = False  # from the same script in another arm, where it was given


@dataclass(frozen=True, kw_only=True)
class Judged:
    """One item with all that was said about it. `later` holds the values given to the Drafts of rounds 2, 3 ...

    `is_complete` is False where several reviewers are asked and not all are done.
    """

    scores: tuple[GivenScore, ...] = ()
    adjudicated: Mapping[tuple[Stage, Arm], int] = field(default_factory=dict)
    verdict: Verdict | None = None  # of the first assessment; None was never assessed
    is_real: bool = True  # neither gold nor training nor a repeat
    is_sham: bool = False
    is_complete: bool = True
    origin: Origin = Origin.MADE
    has_refined: bool = False
    recommended: Recommended = Recommended.NONE
    execution: float | None = None  # 0 to 1; 1 is success
    execution_reason: str = ""
    feedback_words: int | None = None
    later: tuple[tuple[int, ...], ...] = ()
    # Reviewers who skipped it, or could not judge, each with which of the two.
    passed_over: tuple[tuple[int, str], ...] = ()
    active_seconds: float | None = None  # reviewers' time on it, where it is known
    is_demo: bool = False

    @property
    def was_skipped(self) -> bool:
        return bool(self.passed_over)


class ItemPattern(NamedTuple):
    """All that the figures ask of an item. Items of one pattern are alike, so only their number is kept."""

    script: Standing
    feedback: Standing = Standing.UNSCORED
    refined: Standing = Standing.UNSCORED
    verdict: Verdict | None = None
    origin: Origin = Origin.MADE
    has_refined: bool = False
    recommended: Recommended = Recommended.NONE
    execution: bool | None = None
    execution_reason: str = ""
    # The refinement from an expert's feedback, without and with the scores of that feedback's author.
    expert: Standing = Standing.UNSCORED
    expert_by_all: Standing = Standing.UNSCORED
    length: int | None = None  # place in `patterns.LENGTHS`
    was_skipped: bool = False
    later: tuple[Standing, ...] = ()

    @property
    def is_flagged(self) -> bool:
        return self.verdict is Verdict.INCORRECT

    @property
    def has_unresolved(self) -> bool:
        return Standing.UNRESOLVED in (self.script, self.feedback, self.refined)

    def settle(self, standing: Standing) -> ItemPattern:
        """The pattern as it would be if all that is unresolved ended so."""
        return self._replace(
            script=_settled(self.script, standing),
            feedback=_settled(self.feedback, standing),
            refined=_settled(self.refined, standing),
        )

    def to_text(self) -> str:
        """The pattern as one short line, the same for equal patterns; `from_text` reads it back."""
        return "|".join(
            (
                *(self.script, self.feedback, self.refined, self.verdict or "", self.origin),
                *(_yes_or_no(self.has_refined), self.recommended, _yes_or_no(self.execution)),
                *(self.execution_reason, self.expert, self.expert_by_all),
                "" if self.length is None else str(self.length),
                *(_yes_or_no(self.was_skipped), "".join(self.later)),
            )
        )

    @staticmethod
    def from_text(text: str) -> ItemPattern:
        """Read what `to_text` wrote; raises ValueError for anything else."""
        return _read(text)


# A report reads the same few texts each time.
@lru_cache(maxsize=65_536)
def _read(text: str) -> ItemPattern:
    parts = text.split("|")
    if len(parts) != len(ItemPattern._fields):
        raise ValueError(f"not the pattern of an item: {text!r}")
    script, feedback, refined, verdict, origin, has_refined, recommended, *rest = parts
    execution, reason, expert, expert_by_all, length, was_skipped, later = rest
    return ItemPattern(
        script=Standing(script),
        feedback=Standing(feedback),
        refined=Standing(refined),
        verdict=Verdict(verdict) if verdict else None,
        origin=Origin(origin),
        has_refined=has_refined == "y",
        recommended=Recommended(recommended),
        execution=execution == "y" if execution else None,
        execution_reason=reason,
        expert=Standing(expert),
        expert_by_all=Standing(expert_by_all),
        length=int(length) if length else None,
        was_skipped=was_skipped == "y",
        later=tuple(Standing(code) for code in later),
    )


def _settled(now: Standing, standing: Standing) -> Standing:
    return standing if now is Standing.UNRESOLVED else now


def _yes_or_no(answer: bool | None) -> str:
    return "" if answer is None else "y" if answer else "n"
