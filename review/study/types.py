"""Defines the data of an item that the figures use, and the small pattern that is counted."""

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
    """The rule for when a score is right. It applies to script, feedback and refined script."""

    STRICT = "strict"
    PARTIAL = "partial"

    @property
    def least(self) -> int:
        """The lowest score that is right."""
        return 2 if self is Criterion.STRICT else 1


class FinalScore(StrEnum):
    """The final score of a stage, or why it has none. Each value is one character.

    The result is determined separately for each criterion. Scores of 0 and 1 are wrong under *strict* and a tie under
    *partial*. Scores of 1 and 2 are a tie under *strict* and right under *partial*.
    """

    INCORRECT = "0"
    PARTIAL = "1"
    CORRECT = "2"
    BELOW = "a"  # wrong under strict, unresolved under partial
    ABOVE = "b"  # unresolved under strict, right under partial
    UNRESOLVED = "u"  # under both: reviewers differ, not adjudicated
    PENDING = "p"  # scored, but not yet by all requested reviewers
    UNSCORED = "-"
    ABSENT = "x"  # nothing to score, now or later

    def right(self, criterion: Criterion) -> bool | None:
        """Return whether the final score is right, or None without a final score under this criterion."""
        return _RIGHT[criterion][self]

    def is_unresolved(self, criterion: Criterion) -> bool:
        """Return whether the scores tie under this criterion and have not been adjudicated."""
        return self in _UNRESOLVED[criterion]

    @property
    def needs_adjudicator(self) -> bool:
        """Whether the score is unresolved under either criterion."""
        return self in (FinalScore.BELOW, FinalScore.ABOVE, FinalScore.UNRESOLVED)


# Precalculated, because a report needs it for thousands of patterns.
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
    OTHER = "other"  # of a later round, or not scored in any stage
    NONE = "none"


@dataclass(frozen=True, kw_only=True)
class GivenScore:
    """One score as it was given. Empty, skipped and *cannot judge* are not scores.

    Hidden repeats and halo checks are not included either, because they are compared separately. `order` grows with the
    time of the score. Scores without a time come first. Of two scores with the same time, the one on the later line
    comes last. `text` distinguishes texts of one stage and arm that are scored separately, such as refinements by
    several experts.
    """

    reviewer: int
    stage: Stage
    value: int
    order: int = 0
    arm: Arm = Arm.MODEL
    text: int = 0
    round: int = 1  # of a refined script
    is_blind: bool = True  # the page showed only what the stage allows
    is_undone: bool = False  # by its reviewer
    was_called_in: bool = False  # the reviewer was added because others differed
    is_author: bool = False  # the reviewer wrote the feedback behind the text
    is_first_quarter: bool = (
        False  # among the first quarter of the reviewer's scores in the campaign, by time
    )


@dataclass(frozen=True, kw_only=True)
class Judged:
    """One item with all its scores and other data.

    `scores` and `adjudicated` refer to the item's texts. A text that several arms of a statement share is scored once
    and counts in each arm.
    """

    scores: tuple[GivenScore, ...] = ()
    adjudicated: Mapping[tuple[Stage, Arm], int] = field(default_factory=dict)
    verdict: Verdict | None = None  # of the first assessment; None if never assessed
    is_real: bool = True  # neither gold nor training nor a repeat
    is_sham: bool = False
    wanted: int = 1  # number of reviewers; if 1, the scores are always complete
    called_in: int = 0  # how many of the required reviewers were added because others differed
    cannot_judge: frozenset[int] = frozenset()  # keys of these reviewers
    # Reviewers who scored part of a finished item and no longer hold it.
    gone: frozenset[int] = frozenset()
    hides_verdict: bool = True  # if True, only blind scores decide
    is_over: bool = True  # the Run has ended and creates no more texts
    origin: Origin = Origin.MADE
    has_feedback: bool = False
    has_refined: bool = False
    is_same: bool = False  # the refined text equals the script
    recommended: Recommended = Recommended.NONE
    # Round of a recommended Draft other than the first and the refined Draft, or None if it has no round.
    recommended_round: int | None = None
    execution: float | None = None  # 0 to 1; 1 is success
    execution_reason: str = ""
    feedback_words: int | None = None
    # For each refined Draft of rounds 2, 3 and later, the round of an earlier Draft with the same
    # text (0 is the script), or None for a new text.
    later: tuple[int | None, ...] = ()
    # Reviewers who skipped the item or could not judge it, with the choice of each.
    passed_over: tuple[tuple[int, str], ...] = ()
    active_seconds: float | None = None  # reviewers' time on the item, if known
    is_demo: bool = False

    @property
    def was_skipped(self) -> bool:
        return bool(self.passed_over)


class ItemPattern(NamedTuple):
    """All data of an item that the figures need. Items with equal patterns are only counted."""

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
    is_same: bool = False  # the refined text equals the script and gets its result
    execution: bool | None = None
    execution_reason: str = ""
    # The refinement from an expert's feedback, without and with the scores by the feedback's author.
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
        """Return the pattern as a short line that `from_text` reads. Equal patterns have equal lines."""
        return "|".join([write(value) for (write, _), value in zip(_CODES, self, strict=True)])

    @staticmethod
    def from_text(text: str) -> ItemPattern:
        """Read a line written by `to_text`.

        Raises OtherForm if another release wrote it with other fields, or if it is not a pattern.
        """
        return _read(text)


class OtherForm(ValueError):
    """The stored counts have another release's format and must be recalculated."""


# Cached because a report reads the same few texts each time.
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


# How a field of each type is written and read.
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
