"""The findings of the check of a server, and the port for free requests."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Protocol

from pipeline.llm.types import FailureKind, Target
from pipeline.types import Mode


class Outcome(StrEnum):
    """The result of asking for one mode."""

    REAL = "real"  # the random word came back: the server holds to the shape
    IGNORED = "ignored"  # an answer, without the word: dropped silently
    REFUSED = "refused"  # the server does not take such a request
    UNCLEAR = "unclear"  # cut short or empty: nothing can be said
    FAILED = "failed"  # no answer
    NOT_ASKED = "not_asked"


class Has(StrEnum):
    """Whether the server offers a free request."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


class KeyFound(StrEnum):
    ACCEPTED = "accepted"
    REFUSED = "refused"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Page:
    """A server's answer to one free request; `status` is None if none came."""

    status: int | None
    body: object = None
    message: str = ""
    trouble: str = ""  # a word of Trouble, or the name of what broke

    @property
    def fields(self) -> dict[str, object]:
        """The JSON object of a good answer; empty where it is anything else."""
        return self.body if self.status == 200 and isinstance(self.body, dict) else {}


class Inspector(Protocol):
    """Makes free requests; like a ModelClient it never raises for anything a server may do."""

    def get(self, target: Target, path: str) -> Page: ...

    def post(self, target: Target, path: str, body: dict[str, object]) -> Page: ...


@dataclass(frozen=True)
class ModeFound:
    """One mode as it was found; `detail` is what the server said against it."""

    mode: Mode
    outcome: Outcome = Outcome.NOT_ASKED
    detail: str = ""
    milliseconds: int | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    http_status: int | None = None
    failure: FailureKind | None = None


@dataclass(frozen=True)
class ModelFacts:
    """What the server's list says of one model; None where it says nothing."""

    most_input_tokens: int | None = None
    most_output_tokens: int | None = None
    lifecycle: str = ""
    retires_at: str = ""


@dataclass(frozen=True)
class Found:
    """The whole check. `models` is None where the server has no list of them."""

    reachable: bool
    key: KeyFound = KeyFound.UNKNOWN
    models: tuple[str, ...] | None = None
    model: str = ""
    facts: ModelFacts = ModelFacts()
    modes: tuple[ModeFound, ...] = ()
    recommended: Mode | None = None
    batches: Has = Has.UNKNOWN
    count_tokens: Has = Has.UNKNOWN
    calls: int = 0
    problem: str = ""

    def as_json(self) -> dict[str, object]:
        """The check as JSON; `models` is always a list there, `lists_models` says whether there was one."""
        found = asdict(self)
        return {
            **found,
            "models": list(self.models or ()),
            "lists_models": self.models is not None,
            "modes": list(found["modes"]),
        }
