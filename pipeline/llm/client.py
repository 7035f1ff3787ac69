"""Send requests through the SDK, with one attempt each, and return this package's types.

Importing the SDK takes seconds and tens of megabytes. Therefore only processes that call models load this module (see
the setting SCRIPTSMITH_MODEL_CLIENT). Web processes never do.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from contextvars import copy_context
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from threading import BoundedSemaphore, Lock
from typing import cast
from urllib.parse import urlsplit

import anthropic
import httpx2
from anthropic.types import Message

from core.network.http_exchange import Exchange, Group, current_group, under_way
from pipeline.llm.failure_causes import explain_break
from pipeline.llm.transport import Limits, Transport
from pipeline.llm.types import Answered, Failed, FailureKind, Request, Target, Trouble
from pipeline.llm.usage import read_usage

_BUSY = {429, 503, 529}
_FINAL = {400, 401, 402, 403, 404, 405, 409, 413, 422}
# Servers report an account's spend limit with status 400, and only the message identifies it.
_LIMIT_WORDS = ("usage limits", "credit balance")
_LIMIT_CODES = ("spend_limit", "limit_reached", "ramp_limit")
# Error messages of llama.cpp, vLLM and Claude.
_CONTEXT_WORDS = ("context size", "context length", "prompt is too long")
_MOST_CONNECTING = 20.0  # seconds; a reachable server accepts the connection sooner
# Never reached, because a call sends at most two requests and runs the last in its own thread.
_MOST_THREADS = 1_000
# Parsing a reply near the limit takes about twenty times its size in memory, so only two are parsed at a time.
_LARGE = 200_000  # bytes
_large_replies = BoundedSemaphore(2)


class MessagesClient:
    """A thread-safe client for all Messages API servers, based on the `anthropic` SDK.

    An attempt ends at its time limit, in the thread that waits for it, and leaves no thread or connection behind. If
    `current_group` is set while `send` runs, another thread can end the attempts sooner.
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._clients: dict[Target, anthropic.Anthropic] = {}
        self._lock = Lock()
        self._everything = Group()
        self._pool = ThreadPoolExecutor(_MOST_THREADS, thread_name_prefix="model-call")

    def send(self, requests: Sequence[tuple[Target, Request]]) -> list[Answered | Failed]:
        """Make one attempt at each request, in parallel and within the time limit. Return server errors as Failed."""
        if not requests:
            return []
        # The last request runs in this thread, because most calls have only one request.
        beside = [
            self._pool.submit(copy_context().run, self._send, target, request)
            for target, request in requests[:-1]
        ]
        last = self._send(*requests[-1])
        return [*(one.result() for one in beside), last]

    def abandon_all(self, why: str) -> None:
        """End all current and future attempts."""
        self._everything.abandon(why)

    def _send(self, target: Target, request: Request) -> Answered | Failed:
        started = time.monotonic()
        exchange = Exchange(target.timeout_seconds)
        with self._kept_in_groups(exchange), under_way(exchange):
            try:
                create = cast(
                    Callable[..., object], self._client(target).messages.with_raw_response.create
                )
                raw = create(**request)
                exchange.end()
                request_id = str(raw.headers.get("request-id", ""))[:100]  # type: ignore[attr-defined]
                if "text/html" in str(raw.headers.get("content-type", "")):  # type: ignore[attr-defined]
                    return _web_page(_since(started))
                with _few_at_a_time(len(raw.http_response.content)):  # type: ignore[attr-defined]
                    return _read(raw.parse(), request_id, _since(started))  # type: ignore[attr-defined]
            except anthropic.APIStatusError as error:
                return failed_with_status(error, _since(started))
            except anthropic.APIConnectionError as error:
                return explain_break(
                    error,
                    exchange,
                    seconds=target.timeout_seconds,
                    most_bytes=self._limits.most_bytes,
                    milliseconds=_since(started),
                )
            except Exception as error:
                # The reply is malformed. The SDK passes on any parsing exception.
                said = f"The reply can't be parsed: {type(error).__name__}."
                return broken(said, _since(started))

    @contextmanager
    def _kept_in_groups(self, exchange: Exchange) -> Iterator[None]:
        group = current_group.get()
        with ExitStack() as stack:
            stack.enter_context(self._everything.holding(exchange))
            if group is not None:
                stack.enter_context(group.holding(exchange))
            yield

    def _client(self, target: Target) -> anthropic.Anthropic:
        with self._lock:
            client = self._clients.get(target)
            if client is None:
                client = self._clients[target] = make_sdk(
                    target, self._limits, seconds=target.timeout_seconds
                )
            return client


def make_sdk(target: Target, limits: Limits, *, seconds: float) -> anthropic.Anthropic:
    """Create the SDK client for one endpoint. It has its own connections, follows no redirect and never retries."""
    return anthropic.Anthropic(
        # Always pass the key and the URL. Otherwise the SDK reads both from the environment.
        api_key=target.key,
        base_url=target.base_url,
        max_retries=0,
        timeout=httpx2.Timeout(seconds, connect=min(seconds, _MOST_CONNECTING)),
        http_client=httpx2.Client(
            transport=Transport(target.base_url, limits), trust_env=False, follow_redirects=False
        ),
    )


@contextmanager
def _few_at_a_time(size: int) -> Iterator[None]:
    with ExitStack() as stack:
        if size > _LARGE:
            stack.enter_context(_large_replies)
        yield


def _read(message: object, request_id: str, milliseconds: int) -> Answered | Failed:
    if not isinstance(message, Message):
        return broken("The reply is not a message.", milliseconds, request_id)
    return read_message(message.to_dict(mode="json", warnings=False), request_id, milliseconds)


def read_message(
    told: dict[str, object], request_id: str = "", milliseconds: int = 0
) -> Answered | Failed:
    """Return a server's reply with its usage, or Failed if it is not a message or can't be stored."""
    if not isinstance(told.get("content"), list):
        return broken("The reply is not a message.", milliseconds, request_id)
    counted = read_usage(told)
    if counted.doubt:
        told["usage"] = None  # an implausible value may not be a storable number
    if not _can_be_stored(told):
        said = "The reply contains a NUL byte or an unpaired surrogate, so it can't be stored."
        return broken(said, milliseconds, request_id)
    return Answered(told, counted.usage, request_id, milliseconds, counted.doubt, counted.said)


def broken(said: str, milliseconds: int, request_id: str = "") -> Failed:
    """Return a failure for an unreadable reply, which may have been billed."""
    return Failed(
        FailureKind.BROKEN,
        said,
        request_id=request_id,
        possibly_billed=True,
        milliseconds=milliseconds,
    )


def _since(started: float) -> int:
    return round((time.monotonic() - started) * 1000)


def _can_be_stored(message: object) -> bool:
    """Return whether PostgreSQL can store the message. PostgreSQL rejects NUL, unpaired surrogates and NaN."""
    try:
        told = json.dumps(message, ensure_ascii=False, allow_nan=False)
        told.encode()
    except ValueError:
        return False
    return "\\u0000" not in told.replace("\\\\", "")


def failed_with_status(error: anthropic.APIStatusError, milliseconds: int) -> Failed:
    """Classify an error reply by its status, type and message."""
    code = str(getattr(error, "error_code", "") or "")
    kind = str(getattr(error, "type", "") or "")
    status = error.status_code
    if 300 <= status < 400:
        return _redirected(error, milliseconds)
    words = str(error.api_message or error.message)
    if (
        status == 402
        or any(part in code for part in _LIMIT_CODES)
        or (status == 400 and any(part in words.lower() for part in _LIMIT_WORDS))
    ):
        what = FailureKind.LIMIT
    elif status in _BUSY:
        what = FailureKind.BUSY
    elif status in _FINAL:
        what = FailureKind.REFUSED
    else:
        what = FailureKind.BROKEN
    return Failed(
        what,
        short(words),
        http_status=status,
        error_type=_trouble_in(status, words.lower()) or short(code or kind),
        request_id=(error.request_id or "")[:100],
        retry_after=_retry_after(error.response.headers.get("retry-after")),
        possibly_billed=what is FailureKind.BROKEN,
        milliseconds=milliseconds,
    )


def _trouble_in(status: int, words: str) -> str:
    """Return the Trouble in an error reply's message, or an empty string."""
    if status == 503 and "loading model" in words:
        return Trouble.LOADING
    return (
        Trouble.CONTEXT if status in (400, 413) and any(w in words for w in _CONTEXT_WORDS) else ""
    )


def _web_page(milliseconds: int) -> Failed:
    return Failed(
        FailureKind.REFUSED,
        "The server returned a web page instead of a message.",
        http_status=200,
        error_type=Trouble.WEB_PAGE,
        milliseconds=milliseconds,
    )


def _redirected(error: anthropic.APIStatusError, milliseconds: int) -> Failed:
    try:
        host = urlsplit(error.response.headers.get("location", "")).netloc
    except ValueError:
        host = ""
    to = f"to {host!r}" if host else "elsewhere"
    return Failed(
        FailureKind.REFUSED,
        short(f"The server redirects {to}. Redirects are not followed, so nothing was sent there."),
        http_status=error.status_code,
        error_type=Trouble.REDIRECT,
        milliseconds=milliseconds,
    )


def _retry_after(value: str | None) -> float | None:
    """Return the delay in a Retry-After header in seconds, or None. The header contains seconds or a date."""
    try:
        seconds = float(value or "")
    except ValueError:
        try:
            when = parsedate_to_datetime(value or "")
        except ValueError:
            return None
        when = when if when.tzinfo else when.replace(tzinfo=UTC)
        seconds = (when - datetime.now(UTC)).total_seconds()
    return max(0.0, seconds) if math.isfinite(seconds) else None


def short(text: str) -> str:
    """Truncate a text to 500 characters and replace characters that can't be stored."""
    text = text.replace("\0", "\ufffd").encode(errors="replace").decode()
    return text if len(text) <= 500 else text[:499] + "…"
