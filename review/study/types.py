"""What one item brings to the figures, and the small pattern that is counted."""

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
    """When a score is right. It holds for script, feedback and refined script alike."""

    STRICT = "strict"
    PARTIAL = "partial"

    @property
    def least(self) -> int:
        """The lowest score that is right."""
        return 2 if self is Criterion.STRICT else 1


class FinalScore(StrEnum):
    """Where the final score of a stage stands: a value, or why there is none. One character each.

    It is decided for each criterion on its own: scores of 0 and 1 are wrong under *strict* and a tie under
    *partial*, those of 1 and 2 a tie under *strict* and right under *partial*.
    """

    INCORRECT = "0"
    PARTIAL = "1"
    CORRECT = "2"
    BELOW = "a"  # wrong under strict, unresolved under partial
    ABOVE = "b"  # unresolved under strict, right under partial
    UNRESOLVED = "u"  # under both: the reviewers differ and nobody has adjudicated
    PENDING = "p"  # scored, but not yet by everyone asked
    UNSCORED = "-"
    ABSENT = "x"  # there is nothing to score, and nothing will be made

    def right(self, criterion: Criterion) -> bool | None:
        """Whether the final score is right; None where there is no final score under this criterion."""
        return _RIGHT[criterion][self]

    def is_unresolved(self, criterion: Criterion) -> bool:
        """Whether as many scores are right as wrong under this criterion, and nobody has adjudicated."""
        return self in _UNRESOLVED[criterion]

    @property
    def needs_adjudicator(self) -> bool:
        """Whether it is unresolved under either criterion."""
        return self in (FinalScore.BELOW, FinalScore.ABOVE, FinalScore.UNRESOLVED)


# Looked up and not worked out: a report asks it of thousands of patterns, time and again.
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
    """How the first Draft came about."""

    MADE = "made"
    REPAIRED = "repaired"  # generated, then mended once where the syntax check reported an error
    RETRIEVED = "retrieved"  # from the catalogue: in no model figure
    FAILED = "failed"  # the Run ended without a script


class Recommended(StrEnum):
    """Which Draft the product recommends, after the guard."""

    FIRST = "first"
    REFINED = "refined"
    OTHER = "other"  # of a later round, or one that no stage scores
    NONE = "none"


@dataclass(frozen=True, kw_only=True)
class GivenScore:
    """One score as it was given. Empty, skipped and *cannot judge* are not scores, and not here; nor are
    hidden repeats and scores given for the halo check, which are compared on their own.

    `order` grows with the time at which it was given: one without a time comes before any with one, and of
    two at the same time the one of the later line comes later. `text` tells the texts of one stage and arm
    apart that are scored on their own: refinements by several experts, and those of later rounds.
    """

    reviewer: int
    stage: Stage
    value: int
    order: int = 0
    arm: Arm = Arm.MODEL
    text: int = 0
    round: int = 1  # of a refined script
    is_blind: bool = True  # no more was visible than its stage shows
    is_undone: bool = False  # taken back by its reviewer
    was_called_in: bool = False  # to an item whose reviewers differed
    is_author: bool = False  # of the feedback that the text was made from
    is_first_quarter: bool = False  # of all that its reviewer scored in the campaign, by time


@dataclass(frozen=True, kw_only=True)
class Judged:
    """One item with all that was said about it.

    `scores` and `adjudicated` are of its texts, wherever these stand: a text that several arms of a statement
    share is scored once and counts in each.
    """

    scores: tuple[GivenScore, ...] = ()
    adjudicated: Mapping[tuple[Stage, Arm], int] = field(default_factory=dict)
    verdict: Verdict | None = None  # of the first assessment; None was never assessed
    is_real: bool = True  # neither gold nor training nor a repeat
    is_sham: bool = False
    wanted: int = 1  # reviewers who are to score it; with one, whoever did are all
    called_in: int = 0  # of those wanted, how many were added because others differed
    cannot_judge: frozenset[int] = frozenset()  # reviewers who said so
    # Of an item that waits for nobody else: who scored something of it and has it in hand no more.
    gone: frozenset[int] = frozenset()
    hides_verdict: bool = True  # a score that is not blind does not decide
    is_over: bool = True  # the Run has ended: nothing more will be made
    origin: Origin = Origin.MADE
    has_feedback: bool = False
    has_refined: bool = False
    is_same: bool = False  # the refined text is that of the script
    recommended: Recommended = Recommended.NONE
    # Of an other Draft that is recommended, its round; None where it is of none.
    recommended_round: int | None = None
    execution: float | None = None  # 0 to 1; 1 is success
    execution_reason: str = ""
    feedback_words: int | None = None
    # Of the refined Drafts of rounds 2, 3 ... in order: the round of an earlier one with the same text (0 is the
    # script), or None for a text of its own.
    later: tuple[int | None, ...] = ()
    # Reviewers who skipped it, or could not judge, each with which of the two.
    passed_over: tuple[tuple[int, str], ...] = ()
    active_seconds: float | None = None  # reviewers' time on it, where it is known
    is_demo: bool = False

    @property
    def was_skipped(self) -> bool:
        return bool(self.passed_over)


class ItemPattern(NamedTuple):
    """All that the figures ask of an item. Items of one pattern are alike, so only their number is kept."""

    script: FinalScore
    feedback: FinalScore = FinalScore.ABSENT
    refined: FinalScore = FinalScore.ABSENT
    verdict: Verdict | None = None
    origin: Origin = Origin.MADE
    recommended: Recommended = Recommended.NONE
    # Where another Draft than the first and the refined one is recommended: how its score stands.
    advised: FinalScore = FinalScore.ABSENT
    # Something may still be made: a verdict, a recommendation, a feedback or refined script that is not there yet.
    is_running: bool = False
    is_same: bool = False  # the refined text is that of the script, and ends as that does
    execution: bool | None = None
    execution_reason: str = ""
    # The refinement from an expert's feedback, without and with the scores of that feedback's author.
    expert: FinalScore = FinalScore.ABSENT
    expert_by_all: FinalScore = FinalScore.ABSENT
    length: int | None = None  # place in `patterns.LENGTHS`
    was_skipped: bool = False
    later: tuple[FinalScore, ...] = ()

    @property
    def is_flagged(self) -> bool:
        return self.verdict is Verdict.INCORRECT

    @property
    def has_refined(self) -> bool:
        return self.refined is not FinalScore.ABSENT

    def to_text(self) -> str:
        """The pattern as one short line, the same for equal patterns; `from_text` reads it back."""
        return "|".join([write(value) for (write, _), value in zip(_CODES, self, strict=True)])

    @staticmethod
    def from_text(text: str) -> ItemPattern:
        """Read what `to_text` wrote.

        Raises:
            OtherForm: another release wrote it, with other fields, or it is no pattern.
        """
        return _read(text)


class OtherForm(ValueError):
    """What is counted was written in another form than this release writes: it has to be counted anew."""


# A report reads the same few texts each time.
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


# How a field of each type is written, and read again.
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
