"""The pipeline's words as types; pure, so that the flow can be read and tested without Django."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple


class _Labelled(StrEnum):
    @property
    def label(self) -> str:
        """The word shown to people."""
        return self.value.replace("_", " ").capitalize()


class Mode(_Labelled):
    """How an endpoint can be held to a shape: by schema, by a forced tool, or only by words."""

    SCHEMA = "schema"
    TOOL = "tool"
    TEXT = "text"


class Role(_Labelled):
    GENERATOR = "generator"
    ASSESSOR = "assessor"
    REFINER = "refiner"
    # Writes cases from the statement; where nobody is named for it, the assessor does.
    CASE_AUTHOR = "case_author"


# A configuration says who plays each of these; any other role has a stand-in among them.
NEEDED_ROLES = (Role.GENERATOR, Role.ASSESSOR, Role.REFINER)


class CasesUse(_Labelled):
    """What a run does with cases: nothing, write and run them, or tell a refinement what did not hold as well."""

    OFF = "off"
    RUN = "run"
    FEEDBACK = "feedback"


class SecretsChoice(_Labelled):
    """What is done with secrets in texts that leave this machine, by the word of whoever asked."""

    MASK = "mask"
    SEND = "send"


# A choice next to those above for texts that are not stored yet: *** replaces their secrets in the stored text too.
MASK_STORED = "mask-stored"


class Arm(_Labelled):
    """Whose feedback a refinement was made from. Only the arm *model* enters the standard figures."""

    MODEL = "model"
    EXPERT = "expert"


class DraftKind(_Labelled):
    RETRIEVED = "retrieved"
    GENERATED = "generated"
    REPAIRED = "repaired"
    REFINED = "refined"
    # Rewritten from what happened in prepared worlds; it enters no figure of refinement.
    REVISED = "revised"
    EDITED = "edited"
    IMPORTED = "imported"


class Verdict(_Labelled):
    """What the assessor says. A reply that can't be read is unknown, never correct and never incorrect."""

    CORRECT = "correct"
    INCORRECT = "incorrect"
    UNKNOWN = "unknown"


class AnswerStatus(StrEnum):
    """What became of an action, as whoever asked reads it: may the script be used? See `pipeline.runs.answers`."""

    RUNNING = "running"
    VERIFIED = "verified"
    # A reviewer changed the script, and a second person has to verify the change.
    IN_REVIEW = "in_review"
    WAITING = "waiting"
    FLAGGED = "flagged"
    # The assessor gave no verdict that can be read, or was never asked.
    UNKNOWN = "unknown"
    UNREVIEWED = "unreviewed"
    REJECTED = "rejected"
    # It was verified, and its version is suspended, replaced or deprecated since.
    WITHDRAWN = "withdrawn"
    # No script was written, and a verified entry was found as a starting point.
    ADAPT = "adapt"
    UNWRITTEN = "unwritten"
    FAILED = "failed"
    CANCELLED = "cancelled"
    # The person may be asked to score it.
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
    """How reading a reply ended; all but `read` leave the question unanswered."""

    READ = "read"
    REFUSED = "refused"
    TRUNCATED = "truncated"
    EMPTY = "empty"
    UNPARSED = "unparsed"
    CONFLICT = "conflict"


class Opinion(StrEnum):
    """One comparison of a statement with what a script does."""

    MATCH = "match"
    MISMATCH = "mismatch"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Reply:
    """What a model answered, reduced to what every server has (MODELS: lowest common denominator)."""

    text: str
    stop_reason: str = "end_turn"
    tool_input: dict[str, object] | None = None
    refusal: str = ""


@dataclass(frozen=True)
class CaseAnswer:
    """What the author of the cases says of a check that does not hold: keep, mend or open, and why."""

    check: str
    answer: str
    why: str = ""


class Example(NamedTuple):
    """A verified entry shown to the generator."""

    statement: str
    script: str


@dataclass(frozen=True)
class Question:
    """One question to a model: which role answers, which prompt is filled with what."""

    stage: StageName
    role: Role
    prompt: str
    user: str
    system: str
    prompt_version: str
    round: int = 0
    sample: int = 0
    # JSON schema of the answer, for endpoints that can be held to one.
    schema: dict[str, object] = field(default_factory=dict)
    # Asked again with a higher limit after a reply that was cut short.
    longer: bool = False
    # Asked again: what was wrong with the last answer. How to answer is said with it, by the mode.
    missing: str = ""


# At the start of a point; a line of a crontab begins with several stars.
LIST_MARK = re.compile(r"^\s*(?:[-•]|\*(?!\s*\*))\s+")


def distinct(texts: Iterable[str]) -> list[str]:
    """The points of a list, each once: without the marks of a list, and without repeats."""
    found: dict[str, str] = {}
    for text in texts:
        point = LIST_MARK.sub("", text).strip()
        found.setdefault(" ".join(point.replace("`", "").rstrip(".").split()), point)
    return list(found.values())


class Problem(Exception):
    """The run can't go on; the message is shown to people."""


class NoScript(Problem):
    """The model's reply held no script that can be used."""
