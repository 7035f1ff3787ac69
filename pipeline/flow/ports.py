"""The inputs, results and ports of the flow: what it is given, what it makes, what it needs from outside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from catalog.analysis import Report
from catalog.types import Retrieval
from pipeline.flow.prompts import Templates, load_all
from pipeline.types import (
    Arm,
    DraftKind,
    Opinion,
    Question,
    ReadingOutcome,
    Reply,
    StageName,
    Verdict,
)


@dataclass(frozen=True)
class Task:
    """The input of a Run: every decision of the flow follows from this and from the replies."""

    statement: str
    context: str = ""
    rounds: int = 1
    uses_retrieval: bool = True
    uses_examples: bool = True
    # The prompts in exactly the versions that the run was started with.
    templates: Templates = field(default_factory=load_all, repr=False)


@dataclass(frozen=True, kw_only=True)
class DraftMade:
    """One script text. Kind and round identify it within its Run, so that a resumed Run makes it once."""

    kind: DraftKind
    script: str
    round: int = 0
    arm: Arm = Arm.MODEL
    parent: DraftMade | None = None
    feedback: FeedbackGiven | None = None
    version_id: int | None = None
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class FeedbackGiven:
    draft: DraftMade
    text: str
    round: int
    arm: Arm = Arm.MODEL
    points: int = 0
    no_error_found: bool = False


@dataclass(frozen=True, kw_only=True)
class Assessed:
    """The verdict on one Draft and what it rests on."""

    draft: DraftMade
    verdict: Verdict
    why: str = ""  # of an unknown
    syntax_ok: bool | None = None
    functionality: str = ""
    similarity: Opinion | None = None
    similarity_reason: str = ""
    difference: Opinion | None = None
    difference_reason: str = ""
    differences: tuple[str, ...] = ()

    @property
    def noted(self) -> tuple[str, ...]:
        """What speaks against the Draft: the listed differences, else the reasons that were given."""
        reasons = (self.similarity_reason, self.difference_reason)
        return self.differences or tuple(reason for reason in reasons if reason)


@dataclass(frozen=True, kw_only=True)
class Result:
    """How a Run ended. `verdict` is the first assessment's, whatever came later."""

    recommended: DraftMade
    verdict: Verdict | None = None
    matched: bool = False
    assessments: tuple[Assessed, ...] = ()


class Ports(Protocol):
    """What the flow needs from outside. A call may be replayed, and then returns what it returned before."""

    def retrieve(self) -> Retrieval: ...

    def complete(self, asked: Sequence[Question]) -> list[Reply]:
        """Ask the questions side by side and wait for all replies."""

    def check(self, script: str) -> Report: ...

    def begin(self, stage: StageName, *, round: int) -> None: ...

    def end(
        self,
        stage: StageName,
        *,
        round: int,
        outcome: str,
        found: str = "",
        draft: DraftMade | None = None,
        ok: bool = True,
    ) -> None: ...

    def note_reading(self, question: Question, outcome: ReadingOutcome) -> None: ...

    def keep_draft(self, draft: DraftMade, report: Report | None = None) -> None: ...

    def keep_feedback(self, feedback: FeedbackGiven) -> None: ...

    def keep_assessment(self, assessed: Assessed) -> None: ...
