"""Define the data of an item that the figures use, and the compact pattern for counting items."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple, get_type_hints

from pipeline.types import Arm, Verdict

VALUES = (0, 1, 2)


class Stage(StrEnum):
    SCRIPT = "script"
    FEEDBACK = "feedback"
    REFINED = "refined"


class Criterion(StrEnum):
    """The rule that decides whether a score is right. The rule applies to script, feedback and refined script."""

    STRICT = "strict"
    PARTIAL = "partial"

    @property
    def least(self) -> int:
        """Return the lowest score that is right."""
        return 2 if self is Criterion.STRICT else 1


class FinalScore(StrEnum):
    """The final score of a stage, or the reason why the stage has none. Each value is one character.

    The result is determined separately for each criterion. Scores of 0 and 1, for example, are wrong under *strict* and
    a tie under *partial*. Scores of 1 and 2 are a tie under *strict* and right under *partial*.
    """

    INCORRECT = "0"
    PARTIAL = "1"
    CORRECT = "2"
    BELOW = "a"  # wrong under strict, unresolved under partial
    ABOVE = "b"  # unresolved under strict, right under partial
    UNRESOLVED = "u"  # unresolved under both criteria
    PENDING = "p"  # scored, but not yet by all required reviewers
    UNSCORED = "-"
    ABSENT = "x"  # nothing to score, now or later

    def right(self, criterion: Criterion) -> bool | None:
        """Return whether the final score is right, or None if the stage has no final score under this criterion."""
        return _RIGHT[criterion][self]

    def is_unresolved(self, criterion: Criterion) -> bool:
        """Return whether the scores tie under this criterion and have not been adjudicated."""
        return self in _UNRESOLVED[criterion]

    @property
    def needs_adjudicator(self) -> bool:
        """Return whether the score is unresolved under either criterion."""
        return self in (FinalScore.BELOW, FinalScore.ABOVE, FinalScore.UNRESOLVED)


# Precomputed, because a report looks up the results of thousands of patterns.
_RIGHT: dict[Criterion, dict[FinalScore, bool | None]] = {
    criterion: {
        one: int(one.value) >= criterion.least if one.value in "012" else None for one in FinalScore
    }
    for criterion in Criterion
}
_RIGHT[Criterion.STRICT][FinalScore.BELOW] = False
_RIGHT[Criterion.PARTIAL][FinalScore.ABOVE] = True
_UNRESOLVED = {
    Criterion.STRICT: (FinalScore.UNRESOLVED, FinalScore.ABOVE),
    Criterion.PARTIAL: (FinalScore.UNRESOLVED, FinalScore.BELOW),
}


class Origin(StrEnum):
    """The origin of the first Draft."""

    MADE = "made"
    REPAIRED = "repaired"  # generated, then fixed once after a syntax error
    RETRIEVED = "retrieved"  # from the catalogue, excluded from model figures
    FAILED = "failed"  # the Run ended without a script


class Recommended(StrEnum):
    """The Draft that the product recommends, after the guard."""

    FIRST = "first"
    REFINED = "refined"
    OTHER = "other"  # a Draft of a later round, or a Draft that is not scored at any stage
    NONE = "none"


@dataclass(frozen=True, kw_only=True)
class GivenScore:
    """A score that a reviewer gave. Empty, skipped and *cannot judge* are not scores.

    Scores of hidden repeats and halo checks are not included, because they are compared separately. `order` sorts
    scores by time and line. Scores without a time come first. `text` distinguishes texts of the same stage and arm that
    are scored separately, such as refinements from different experts' feedback.
    """

    reviewer: int
    stage: Stage
    value: int
    order: int = 0
    arm: Arm = Arm.MODEL
    text: int = 0
    round: int = 1  # round of a refined script
    is_blind: bool = True  # the page showed nothing beyond the stage
    is_undone: bool = False  # the reviewer undid the score
    was_called_in: bool = False  # the reviewer was added to break a tie
    is_author: bool = False  # the reviewer wrote the feedback behind the text
    is_first_quarter: bool = (
        False  # the score is in the first quarter of the reviewer's scores in the campaign, by time
    )


@dataclass(frozen=True, kw_only=True)
class Judged:
    """An item with all its scores and the other data that the figures use.

    A text that two arms of a statement share is scored once. The score and its adjudication count in both arms.
    """

    scores: tuple[GivenScore, ...] = ()
    adjudicated: Mapping[tuple[Stage, Arm], int] = field(default_factory=dict)
    verdict: Verdict | None = None  # verdict of the first assessment; None if never assessed
    is_real: bool = True  # not a gold item, training item, repeat or halo check
    is_sham: bool = False
    wanted: int = 1  # number of required reviewers; if 1, the scores are always complete
    called_in: int = 0  # number of required reviewers who were added to break a tie
    cannot_judge: frozenset[int] = frozenset()  # keys of the reviewers who could not judge the item
    # Reviewers who scored part of the item and are no longer assigned.
    gone: frozenset[int] = frozenset()
    hides_verdict: bool = True  # if True, only blind scores decide
    is_over: bool = True  # the Run has ended and will not create more feedback or scripts
    origin: Origin = Origin.MADE
    has_feedback: bool = False
    has_refined: bool = False
    is_same: bool = False  # the refined text equals the script
    recommended: Recommended = Recommended.NONE
    # Round of the recommended Draft if it is neither the first nor the refined Draft, or None if it has no round.
    recommended_round: int | None = None
    execution: float | None = None  # from 0 to 1 (full success)
    execution_reason: str = ""
    feedback_words: int | None = None
    # For each refined Draft from round 2 on, the round of an earlier Draft with the same text (0 is the script). None
    # means that the text is new.
    later: tuple[int | None, ...] = ()
    # Reviewers who skipped the item or could not judge it, each with the assignment's state.
    passed_over: tuple[tuple[int, str], ...] = ()
    active_seconds: float | None = None  # reviewers' time on the item, if known
    is_demo: bool = False

    @property
    def was_skipped(self) -> bool:
        return bool(self.passed_over)


class ItemPattern(NamedTuple):
    """All data of an item that the figures need. The figures depend only on the number of items per pattern."""

    script: FinalScore
    feedback: FinalScore = FinalScore.ABSENT
    refined: FinalScore = FinalScore.ABSENT
    verdict: Verdict | None = None
    origin: Origin = Origin.MADE
    recommended: Recommended = Recommended.NONE
    # Final score of the recommended Draft if it is neither the first nor the refined Draft.
    advised: FinalScore = FinalScore.ABSENT
    # Whether a missing verdict, recommendation, feedback or refined script can still be created.
    is_running: bool = False
    is_same: bool = False  # the refined text equals the script and has the same result
    execution: bool | None = None
    execution_reason: str = ""
    # Final score of the refinement from an expert's feedback, without and with scores by the author of the feedback.
    expert: FinalScore = FinalScore.ABSENT
    expert_by_all: FinalScore = FinalScore.ABSENT
    length: int | None = None  # index in `patterns.LENGTHS`
    was_skipped: bool = False
    later: tuple[FinalScore, ...] = ()

    @property
    def is_flagged(self) -> bool:
        return self.verdict is Verdict.INCORRECT

    @property
    def has_refined(self) -> bool:
        return self.refined is not FinalScore.ABSENT

    def to_text(self) -> str:
        """Return the pattern as a short line for `from_text`. Equal patterns have equal lines."""
        return "|".join([write(value) for (write, _), value in zip(_CODES, self, strict=True)])

    @staticmethod
    def from_text(text: str) -> ItemPattern:
        """Parse a line written by `to_text`.

        Raises OtherForm if another release wrote the line with different fields, or if the line is not a pattern.
        """
        return _read(text)


class OtherForm(ValueError):
    """The stored counts have another release's format and must be recalculated."""


# Cached because reports read the same few lines repeatedly.
@lru_cache(maxsize=65_536)
def _read(text: str) -> ItemPattern:
    parts = text.split("|")
    try:
        values = [read(part) for (_, read), part in zip(_CODES, parts, strict=True)]
    except ValueError as error:
        raise OtherForm(f"not the pattern of an item: {text!r}") from error
    return ItemPattern(*values)  # type: ignore[arg-type]


def _yes_or_no(answer: bool | None) -> str:
    return "" if answer is None else "y" if answer else "n"


# The functions that write and read a field, by the field's type.
_CODE_OF: dict[object, tuple[Callable[[Any], str], Callable[[str], object]]] = {
    FinalScore: (str, FinalScore),
    tuple[FinalScore, ...]: ("".join, lambda text: tuple(map(FinalScore, text))),
    Origin: (str, Origin),
    Recommended: (str, Recommended),
    Verdict | None: (lambda said: said or "", lambda text: Verdict(text) if text else None),
    bool: (_yes_or_no, "y".__eq__),
    bool | None: (_yes_or_no, lambda text: text == "y" if text else None),
    int | None: (lambda n: "" if n is None else str(n), lambda text: int(text) if text else None),
    str: (str, str),
}
_CODES = [_CODE_OF[kind] for kind in get_type_hints(ItemPattern).values()]
