"""The results of checking a server, and the protocol for free requests."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Protocol

from pipeline.llm.types import FailureKind, Target
from pipeline.types import Mode


class Outcome(StrEnum):
    """The result of testing one mode."""

    REAL = "real"  # the reply contains the random word, so the server enforces the format
    IGNORED = "ignored"  # the reply lacks the random word, so the server ignored the format
    REFUSED = "refused"  # the server does not accept such a request
    UNCLEAR = "unclear"  # truncated or empty reply
    FAILED = "failed"  # no reply
    NOT_ASKED = "not_asked"


class Has(StrEnum):
    """A server's support for a free request."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


class KeyFound(StrEnum):
    ACCEPTED = "accepted"
    REFUSED = "refused"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Page:
    """The response to one free request. Without a response, `status` is None."""

    status: int | None
    body: object = None
    message: str = ""
    trouble: str = ""  # a value of Trouble, or the name of the exception

    @property
    def fields(self) -> dict[str, object]:
        """Return the JSON object of a successful response, or an empty dict."""
        return self.body if self.status == 200 and isinstance(self.body, dict) else {}


class Inspector(Protocol):
    """A client for free requests. Like a ModelClient, it never raises exceptions for server errors."""

    def get(self, target: Target, path: str) -> Page: ...

    def post(self, target: Target, path: str, body: dict[str, object]) -> Page: ...


@dataclass(frozen=True)
class ModeFound:
    """The result for one mode. `detail` is the server's error message."""

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
    """Data about a model from the server's model list. Unknown values are empty."""

    most_input_tokens: int | None = None
    most_output_tokens: int | None = None
    lifecycle: str = ""
    retires_at: str = ""


@dataclass(frozen=True)
class Found:
    """The complete result of a check. `models` is None if the server has no model list."""

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
        """Return the result as JSON. `models` is always a list, and `lists_models` says whether the server lists
        any.
        """
        found = asdict(self)
        return {
            **found,
            "models": list(self.models or ()),
            "lists_models": self.models is not None,
            "modes": list(found["modes"]),
        }
