"""Types between ledger and client: a request's target, and how one try ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

Request = dict[str, object]


@dataclass(frozen=True)
class Target:
    """Where a request goes. The key is read from the environment just before it is used."""

    endpoint: str
    base_url: str
    key: str = field(repr=False)
    timeout_seconds: float


@dataclass(frozen=True)
class Usage:
    """Tokens as the server counted them."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    thinking: int = 0


class FailureKind(StrEnum):
    """Why a try gave no reply, grouped by what can be done about it."""

    BUSY = "busy"  # 429, 503, 529: rest the endpoint and try later
    LIMIT = "limit"  # a spend limit: pause, a person must act
    REFUSED = "refused"  # 400, 401, 403, 404, 413: trying again changes nothing
    BROKEN = "broken"  # 500, or a reply that can't be understood: one more try
    TIMEOUT = "timeout"  # too slow, or the connection died: one more try, perhaps billed
    UNREACHABLE = "unreachable"  # no connection was made: nothing was billed
    # Of a request in a Message Batch: not answered within its time, or taken back. Neither is billed.
    EXPIRED = "expired"
    CANCELLED = "cancelled"


class Trouble(StrEnum):
    """A Failed's `error_type`: what stopped the transport, or an error reply that each server words differently."""

    REDIRECT = "redirect"  # the server names another address, which is not asked
    ADDRESS = "address"  # the host leads where no model is asked
    CERTIFICATE = "certificate"
    TLS = "tls"
    PROXY = "proxy"
    TOO_LARGE = "too large"
    ENCODING = "bad encoding"
    HEADERS = "headers too large"
    WEB_PAGE = "web page"  # a page for people answers, such as a sign-in form
    LOADING = "loading"  # the server is there and its model not yet
    CONTEXT = "context"  # the prompt has more tokens than the model takes
    ABANDONED = "abandoned"  # nobody waits for the reply any more


class UsageDoubt(StrEnum):
    """Why the tokens of an answered try are not counted."""

    NOT_REPORTED = "usage not reported"
    NOT_BELIEVED = "usage not believed"


@dataclass(frozen=True)
class Answered:
    """The server's message as JSON, with what it cost."""

    message: dict[str, object]
    usage: Usage
    request_id: str = ""
    milliseconds: int = 0
    doubt: UsageDoubt | None = None  # then `usage` is all zeros, and the cost not known
    said: str = ""  # what the server said of its usage, where that is not believed


@dataclass(frozen=True)
class Failed:
    kind: FailureKind
    message: str
    http_status: int | None = None
    error_type: str = ""
    request_id: str = ""
    retry_after: float | None = None  # seconds
    possibly_billed: bool = False
    milliseconds: int = 0


class ModelClient(Protocol):
    """One try of each request, side by side: it never retries and never raises for what a server may do."""

    def send(self, requests: Sequence[tuple[Target, Request]]) -> list[Answered | Failed]: ...


@dataclass(frozen=True)
class RemoteBatch:
    """A Message Batch as its server describes it."""

    id: str
    is_ended: bool  # the results can be read
    is_canceling: bool
    requests: int  # all of them, whatever became of each
    created_at: datetime
    expires_at: datetime


class UnreadableResults(Exception):
    """The results of a batch broke off, or could not be asked for; what had come before stays."""

    def __init__(self, failed: Failed) -> None:
        super().__init__(failed.message)
        self.failed = failed
