"""The pipeline's types. They do not import Django, so that the flow can be tested without it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple


class _Labelled(StrEnum):
    @property
    def label(self) -> str:
        """Return the display name."""
        return self.value.replace("_", " ").capitalize()


class Mode(_Labelled):
    """The ways to constrain an endpoint's output: with a schema, with a forced tool, or only with the prompt."""

    SCHEMA = "schema"
    TOOL = "tool"
    TEXT = "text"


class Role(_Labelled):
    GENERATOR = "generator"
    ASSESSOR = "assessor"
    REFINER = "refiner"
    # Writes cases from the statement. The default is the assessor's model.
    CASE_AUTHOR = "case_author"

    @property
    def label(self) -> str:
        """Return the display name. On pages, cases are called sandbox tests."""
        return "Test author" if self is Role.CASE_AUTHOR else super().label


# A configuration names a model for each of these roles. All other roles default to one of these models.
NEEDED_ROLES = (Role.GENERATOR, Role.ASSESSOR, Role.REFINER)


class CasesUse(_Labelled):
    """The use of cases in a run: none, write and run them, or also send failed checks to a refinement."""

    OFF = "off"
    RUN = "run"
    FEEDBACK = "feedback"


class SecretsChoice(_Labelled):
    """The requester's choice for secrets in text that leaves this machine."""

    MASK = "mask"
    SEND = "send"


# An additional choice for texts that are not stored yet: replace secrets with *** in the stored text too.
MASK_STORED = "mask-stored"


class Arm(_Labelled):
    """The source of the feedback for a refinement. Only the *model* arm is part of the standard figures."""

    MODEL = "model"
    EXPERT = "expert"


class DraftKind(_Labelled):
    RETRIEVED = "retrieved"
    GENERATED = "generated"
    REPAIRED = "repaired"
    REFINED = "refined"
    # Rewritten from sandbox results. Refinement figures exclude this kind.
    REVISED = "revised"
    EDITED = "edited"
    IMPORTED = "imported"


class Verdict(_Labelled):
    """The assessor's verdict. An unreadable reply is unknown, never correct or incorrect."""

    CORRECT = "correct"
    INCORRECT = "incorrect"
    UNKNOWN = "unknown"


class AnswerStatus(StrEnum):
    """The status of an action for its requester: whether the script may be used. See `pipeline.runs.answers`."""

    RUNNING = "running"
    VERIFIED = "verified"
    # A reviewer changed the script, and a second reviewer has to verify the change.
    IN_REVIEW = "in_review"
    WAITING = "waiting"
    FLAGGED = "flagged"
    # The assessor gave no readable verdict or was not called.
    UNKNOWN = "unknown"
    UNREVIEWED = "unreviewed"
    REJECTED = "rejected"
    # Verified earlier, but the version has since been suspended, replaced or deprecated.
    WITHDRAWN = "withdrawn"
    # No script was written, but a verified entry was found as a starting point.
    ADAPT = "adapt"
    UNWRITTEN = "unwritten"
    FAILED = "failed"
    CANCELLED = "cancelled"
    # The user may be asked to score the script.
    HIDDEN = "hidden"


class StageName(_Labelled):
    RETRIEVE = "retrieve"
    ENTRY_DESCRIBE = "entry_text"
    ENTRY_SIMILARITY = "entry_like"
    ENTRY_DIFFERENCE = "entry_differ"
    CONFIRM = "confirm"
    GENERATE = "generate"
    CHECK = "check"
    REPAIR = "repair"
    CASES = "cases"
    EXECUTE = "execute"
    MEND_CASES = "mend_cases"
    DESCRIBE = "describe"
    SIMILARITY = "similarity"
    DIFFERENCE = "difference"
    ENSEMBLE = "ensemble"
    EXPLAIN = "explain"
    REFINE = "refine"
    REFINE_CASES = "refine_cases"
    RECOMMEND = "recommend"
    # Outside the flow: shortens an expert's own feedback.
    SHORTEN = "shorten"


class ReadingOutcome(StrEnum):
    """The outcome of reading a reply. Only `read` answers the question."""

    READ = "read"
    REFUSED = "refused"
    TRUNCATED = "truncated"
    EMPTY = "empty"
    UNPARSED = "unparsed"
    CONFLICT = "conflict"


class Opinion(StrEnum):
    """The result of comparing a statement with what a script does."""

    MATCH = "match"
    MISMATCH = "mismatch"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Reply:
    """A model's reply, reduced to the values that every server provides."""

    text: str
    stop_reason: str = "end_turn"
    tool_input: dict[str, object] | None = None
    refusal: str = ""


@dataclass(frozen=True)
class CaseAnswer:
    """The case author's answer about a failed check: `keep`, `mend` or `open`, with the reason."""

    check: str
    answer: str
    why: str = ""


class Example(NamedTuple):
    """A verified entry shown to the generator."""

    statement: str
    script: str


@dataclass(frozen=True)
class Question:
    """A question to a model: its role, its prompt and the prompt's values."""

    stage: StageName
    role: Role
    prompt: str
    user: str
    system: str
    prompt_version: str
    round: int = 0
    sample: int = 0
    # JSON schema of the answer, for endpoints that can enforce one.
    schema: dict[str, object] = field(default_factory=dict)
    # The request states the form of the answer. The endpoint check tests whether the server enforces a form.
    states_form: bool = True
    # Repeats the question with a higher limit after a truncated reply.
    longer: bool = False
    # Repeats the question with the error in the last answer. The mode adds the answer format.
    missing: str = ""
    # The lowest temperature, for endpoints that accept one.
    temperature: float = 0.0


# Matches a list mark at the start of a point, but not a crontab line, which begins with multiple stars.
LIST_MARK = re.compile(r"^\s*(?:[-•]|\*(?!\s*\*))\s+")


def distinct(texts: Iterable[str]) -> list[str]:
    """Return the points of a list without list marks and duplicates."""
    found: dict[str, str] = {}
    for text in texts:
        point = LIST_MARK.sub("", text).strip()
        found.setdefault(" ".join(point.replace("`", "").rstrip(".").split()), point)
    return list(found.values())


class Problem(Exception):
    """Raised if the run can't continue. The message is shown to users."""


class NoScript(Problem):
    """Raised if the model's reply contains no usable script."""
