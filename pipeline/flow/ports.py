"""The inputs, results and ports of the flow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from catalog.analysis import Report
from catalog.execution.cases import CaseSet, State
from catalog.types import Match, Retrieval
from pipeline.flow.prompts import Templates, load_all
from pipeline.types import (
    Arm,
    CaseAnswer,
    CasesUse,
    DraftKind,
    Opinion,
    Question,
    ReadingOutcome,
    Reply,
    StageName,
    Verdict,
)


@dataclass(frozen=True)
class FlowInput:
    """The input of a Run. Every decision of the flow depends only on this input and the replies."""

    statement: str
    context: str = ""
    rounds: int = 1
    uses_retrieval: bool = True
    uses_examples: bool = True
    # If an entry's only problem is an uncertain score, the assessor can confirm the match.
    confirms_matches: bool = False
    cases: CasesUse = CasesUse.OFF
    case_author: str = "a model"  # the name under which cases are stored
    # The prompt versions that were current when the run started.
    templates: Templates = field(default_factory=load_all, repr=False)


@dataclass(frozen=True, kw_only=True)
class DraftMade:
    """A script. Its kind and round identify it within its Run, so a resumed Run does not create it again."""

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
    """The verdict on one Draft and its reasons."""

    draft: DraftMade
    verdict: Verdict
    why: str = ""  # reason for an unknown verdict
    syntax_ok: bool | None = None
    functionality: str = ""
    similarity: Opinion | None = None
    similarity_reason: str = ""
    difference: Opinion | None = None
    difference_reason: str = ""
    differences: tuple[str, ...] = ()

    @property
    def noted(self) -> tuple[str, ...]:
        """Return the objections to the Draft: the listed differences or, if none are listed, the stated reasons."""
        reasons = (self.similarity_reason, self.difference_reason)
        return self.differences or tuple(reason for reason in reasons if reason)


@dataclass(frozen=True)
class CheckSeen:
    """A check of a case, both numbered from 1. If the check failed, `got` is the observed result."""

    case: int
    number: int
    sentence: str
    state: State
    got: str = ""

    @property
    def place(self) -> tuple[int, int]:
        return self.case, self.number

    @property
    def name(self) -> str:
        """Return the check's name for a model: `2.1` is the first check of the second case."""
        return f"{self.case}.{self.number}"


@dataclass(frozen=True, kw_only=True)
class Executed:
    """The results of running a script against a case set. `reason` says why nothing was run."""

    case_set: CaseSet
    checks: tuple[CheckSeen, ...] = ()
    reason: str = ""
    # Identifies the kind of machine. Only results with the same fingerprint can be compared.
    fingerprint: str = ""

    def of(self, *states: State) -> tuple[CheckSeen, ...]:
        """Return the checks that ended in one of these states, in order."""
        return tuple(check for check in self.checks if check.state in states)


@dataclass(frozen=True, kw_only=True)
class Result:
    """The result of a Run. `verdict` is always the verdict of the first assessment."""

    recommended: DraftMade
    verdict: Verdict | None = None
    matched: bool = False
    confirmed: bool = False  # the assessor confirmed the match
    assessments: tuple[Assessed, ...] = ()


class Ports(Protocol):
    """The operations that the flow needs from its environment. A replayed call returns its earlier result."""

    def retrieve(self) -> Retrieval: ...

    def complete(self, asked: Sequence[Question]) -> list[Reply]:
        """Ask the questions in parallel and wait for all replies."""

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


class EntryPorts(Protocol):
    """Additional ports for confirming a match. A replayed call returns its earlier result."""

    def known_description(self, match: Match) -> str:
        """Return this assessor's stored description of the entry's script, or an empty string."""

    def keep_description(self, match: Match, text: str) -> None:
        """Store the description for later runs."""


class CasePorts(Protocol):
    """Additional ports for the case stages. A replayed call returns its earlier result."""

    def keep_cases(
        self,
        case_set: CaseSet,
        *,
        number: int,
        stage: StageName,
        replaces: CaseSet | None = None,
        answers: Sequence[CaseAnswer] = (),
    ) -> None:
        """Store the run's new cases. `number` counts the author's revisions."""

    def withdraw_cases(
        self,
        case_set: CaseSet,
        *,
        number: int,
        stage: StageName,
        answers: Sequence[CaseAnswer] = (),
    ) -> None:
        """Withdraw these cases because their author kept none of them. The run then has no cases."""

    def start_cases(self, case_set: CaseSet, draft: DraftMade) -> None:
        """Start running the cases against a Draft in a sandbox worker."""

    def end_cases(self, case_set: CaseSet, draft: DraftMade, *, round: int) -> Executed:
        """Wait for the results, up to a time limit, and return them."""
