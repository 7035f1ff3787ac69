"""Types shared by the ledger and the client: a request's target, and the result of one attempt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

Request = dict[str, object]


@dataclass(frozen=True)
class Target:
    """The target of a request. The key is read from the environment just before it is used."""

    endpoint: str
    base_url: str
    key: str = field(repr=False)
    timeout_seconds: float


@dataclass(frozen=True)
class Usage:
    """The token counts that the server reported."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    thinking: int = 0


class FailureKind(StrEnum):
    """The reasons why an attempt got no reply, grouped by the required reaction."""

    BUSY = "busy"  # 429, 503, 529: pause the endpoint and retry later
    LIMIT = "limit"  # a spend limit: pause until a user acts
    REFUSED = "refused"  # 400, 401, 403, 404, 413: a retry is pointless
    BROKEN = "broken"  # 500, or an unreadable reply: one retry
    TIMEOUT = "timeout"  # too slow, or the connection broke: one retry, possibly billed
    UNREACHABLE = "unreachable"  # no connection was made: nothing was billed
    # A request in a Message Batch that was not answered in time, or was canceled. Neither is billed.
    EXPIRED = "expired"
    CANCELLED = "cancelled"


class Trouble(StrEnum):
    """The `error_type` of a Failed: a transport problem, or an error that each server words differently."""

    REDIRECT = "redirect"  # the server redirects to another address, which is not called
    ADDRESS = "address"  # the host is in a blocked network
    CERTIFICATE = "certificate"
    TLS = "tls"
    PROXY = "proxy"
    TOO_LARGE = "too large"
    ENCODING = "bad encoding"
    HEADERS = "headers too large"
    WEB_PAGE = "web page"  # an HTML page, such as a sign-in form
    LOADING = "loading"  # the server is running, but its model is not loaded yet
    CONTEXT = "context"  # the prompt exceeds the model's context
    ABANDONED = "abandoned"  # the reply is no longer needed


class UsageDoubt(StrEnum):
    """The reasons why the tokens of an answered attempt are not counted."""

    NOT_REPORTED = "usage not reported"
    NOT_BELIEVED = "usage not believed"


@dataclass(frozen=True)
class Answered:
    """The server's message as JSON, with its usage."""

    message: dict[str, object]
    usage: Usage
    request_id: str = ""
    milliseconds: int = 0
    doubt: UsageDoubt | None = None  # if set, `usage` is all zeros and the cost is unknown
    said: str = ""  # the server's usage report, if it is not credible


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
    """A client that makes one attempt at each request, in parallel. It never retries or raises server errors."""

    def send(self, requests: Sequence[tuple[Target, Request]]) -> list[Answered | Failed]: ...


@dataclass(frozen=True)
class RemoteBatch:
    """A Message Batch as its server describes it."""

    id: str
    is_ended: bool  # the results are available
    is_canceling: bool
    requests: int  # the total number, regardless of results
    created_at: datetime
    expires_at: datetime


class UnreadableResults(Exception):
    """The results of a batch ended early or could not be requested. Results that arrived before are kept."""

    def __init__(self, failed: Failed) -> None:
        super().__init__(failed.message)
        self.failed = failed
