"""The one place that imports the SDK: one try of one request, told in our words.

Importing it takes seconds and tens of megabytes, so only who speaks to a model loads this module (by the
setting SCRIPTSMITH_MODEL_CLIENT); pages never do.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from threading import Lock
from typing import cast

import anthropic
import httpx2
from anthropic.types import Message

from pipeline.llm.types import Answered, Failed, FailureKind, Request, Target, Usage

_BUSY = {429, 503, 529}
_FINAL = {400, 401, 402, 403, 404, 405, 409, 413, 422}
# A connection that its server closes at the moment it is used again looks like one that died over a reply, and
# so like a call that may have been billed. Servers close idle ones after 5 s and more; we leave them sooner.
_CONNECTIONS = httpx2.Limits(
    max_connections=1_000, max_keepalive_connections=160, keepalive_expiry=2.0
)
_GRACE = 2.0  # seconds beyond the read timeout before a dripping reply is given up
# A limit that somebody set on the account is told as a 400, in words only.
_LIMIT_WORDS = ("usage limits", "credit balance")
_LIMIT_CODES = ("spend_limit", "limit_reached", "ramp_limit")
_MOST_TOKENS = 2**31 - 1


class MessagesClient:
    """Speaks to any server of the Messages API through the `anthropic` SDK; safe to use from many threads."""

    def __init__(self, *, most_threads: int = 160) -> None:
        self._clients: dict[Target, anthropic.Anthropic] = {}
        self._lock = Lock()
        # The SDK's timeout is per read: a reply that drips one byte at a time would hold a worker for
        # ever. So the try runs here, and whoever waits for it keeps an eye on the clock.
        self._pool = ThreadPoolExecutor(most_threads, thread_name_prefix="model-call")

    def send(self, requests: Sequence[tuple[Target, Request]]) -> list[Answered | Failed]:
        """One try of each, side by side. Whatever a server does comes back as Answered or Failed, in time."""
        started = time.monotonic()
        tries = [
            (target, self._pool.submit(self._send, target, request, started))
            for target, request in requests
        ]
        return [self._await(target, future, started) for target, future in tries]

    def _await(
        self, target: Target, future: Future[Answered | Failed], started: float
    ) -> Answered | Failed:
        left = started + target.timeout_seconds + _GRACE - time.monotonic()
        try:
            return future.result(timeout=max(0.0, left))
        except FutureTimeout:
            future.cancel()
            return _too_slow(target, started)

    def _send(self, target: Target, request: Request, started: float) -> Answered | Failed:
        try:
            create = cast(
                Callable[..., object], self._client(target).messages.with_raw_response.create
            )
            raw = create(**request)
            message = raw.parse()  # type: ignore[attr-defined]
            request_id = str(raw.headers.get("request-id", ""))[:100]  # type: ignore[attr-defined]
            if not (isinstance(message, Message) and message.usage is not None):
                return _broken("The reply is not a message.", _since(started), request_id)
            told = message.to_dict(mode="json", warnings=False)
            if not isinstance(told.get("content"), list):
                return _broken("The reply is not a message.", _since(started), request_id)
            if not _can_be_stored(told):
                said = "The reply holds a NUL byte or half of a character; it can't be kept."
                return _broken(said, _since(started), request_id)
            return Answered(told, _usage_of(message), request_id, _since(started))
        except anthropic.APIStatusError as error:
            return _failed_with_status(error, _since(started))
        except anthropic.APITimeoutError:
            return _too_slow(target, started)
        except anthropic.APIConnectionError as error:
            return _failed_to_connect(error, _since(started))
        except Exception as error:
            # A reply of the wrong shape: the SDK lets whatever reading it raises through.
            said = f"The reply can't be understood: {type(error).__name__}."
            return _broken(said, _since(started))

    def _client(self, target: Target) -> anthropic.Anthropic:
        with self._lock:
            client = self._clients.get(target)
            if client is None:
                # Key and address are always given: without them the SDK would take a key from the
                # environment and send it to whatever address it finds there.
                client = self._clients[target] = anthropic.Anthropic(
                    api_key=target.key,
                    base_url=target.base_url,
                    timeout=target.timeout_seconds,
                    max_retries=0,
                    http_client=anthropic.DefaultHttpxClient(limits=_CONNECTIONS),
                )
            return client


def _too_slow(target: Target, started: float) -> Failed:
    return Failed(
        FailureKind.TIMEOUT,
        f"No whole reply within {target.timeout_seconds:.0f} s.",
        possibly_billed=True,
        milliseconds=_since(started),
    )


def _broken(said: str, milliseconds: int, request_id: str = "") -> Failed:
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
    """Whether PostgreSQL takes all of it: NUL, half of a surrogate pair and NaN it refuses."""
    try:
        told = json.dumps(message, ensure_ascii=False, allow_nan=False)
        told.encode()
    except ValueError:
        return False
    return "\\u0000" not in told.replace("\\\\", "")


def _usage_of(message: Message) -> Usage:
    usage = message.usage
    details = getattr(usage, "output_tokens_details", None)
    return Usage(
        input=_tokens(usage.input_tokens),
        output=_tokens(usage.output_tokens),
        cache_read=_tokens(usage.cache_read_input_tokens),
        cache_write=_tokens(usage.cache_creation_input_tokens),
        thinking=_tokens(getattr(details, "thinking_tokens", 0)),
    )


def _tokens(count: object) -> int:
    """A count that can be stored, whatever a server sends in its place."""
    return min(max(count, 0), _MOST_TOKENS) if isinstance(count, int) else 0


def _failed_with_status(error: anthropic.APIStatusError, milliseconds: int) -> Failed:
    code = str(getattr(error, "error_code", "") or "")
    kind = str(getattr(error, "type", "") or "")
    status = error.status_code
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
        _short(words),
        http_status=status,
        error_type=_short(code or kind),
        request_id=(error.request_id or "")[:100],
        retry_after=_retry_after(error.response.headers.get("retry-after")),
        possibly_billed=what is FailureKind.BROKEN,
        milliseconds=milliseconds,
    )


def _failed_to_connect(error: anthropic.APIConnectionError, milliseconds: int) -> Failed:
    cause = type(error.__cause__).__name__ if error.__cause__ else ""
    never_sent = cause in ("ConnectError", "ConnectTimeout")
    return Failed(
        FailureKind.UNREACHABLE if never_sent else FailureKind.TIMEOUT,
        "The server can't be reached."
        if never_sent
        else "The connection broke before the reply was whole.",
        error_type=cause,
        possibly_billed=not never_sent,
        milliseconds=milliseconds,
    )


def _retry_after(value: str | None) -> float | None:
    """Seconds, from the header's seconds or its date; None where it says neither."""
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


def _short(text: str) -> str:
    """At most 500 characters, all of which can be stored."""
    text = text.replace("\0", "\ufffd").encode(errors="replace").decode()
    return text if len(text) <= 500 else text[:499] + "…"
