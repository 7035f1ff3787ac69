"""The one place that imports the SDK: one try of one request, told in our words.

Importing it takes seconds and tens of megabytes, so only who speaks to a model loads this module (by the
setting SCRIPTSMITH_MODEL_CLIENT); pages never do.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from threading import Lock
from typing import cast

import anthropic
from anthropic.types import Message

from pipeline.llm.types import Answered, Failed, FailureKind, Request, Target, Usage

_BUSY = {429, 503, 529}
_FINAL = {400, 401, 402, 403, 404, 405, 409, 413, 422}
_GRACE = 2.0  # seconds beyond the read timeout before a dripping reply is given up


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
            request_id = raw.headers.get("request-id", "")  # type: ignore[attr-defined]
        except anthropic.APIStatusError as error:
            return _failed_with_status(error, _since(started))
        except anthropic.APITimeoutError:
            return _too_slow(target, started)
        except anthropic.APIConnectionError as error:
            return _failed_to_connect(error, _since(started))
        except (anthropic.AnthropicError, json.JSONDecodeError, ValueError, TypeError) as error:
            # A reply of the wrong shape: the SDK lets JSON and validation errors through.
            return Failed(
                FailureKind.BROKEN,
                f"The reply can't be understood: {type(error).__name__}.",
                possibly_billed=True,
                milliseconds=_since(started),
            )
        if (
            not isinstance(message, Message)
            or message.usage is None
            or not isinstance(message.content, list)
        ):
            return Failed(
                FailureKind.BROKEN,
                "The reply is not a message.",
                request_id=request_id,
                possibly_billed=True,
                milliseconds=_since(started),
            )
        return Answered(
            message=message.to_dict(mode="json"),
            usage=_usage_of(message),
            request_id=request_id,
            milliseconds=_since(started),
        )

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
                )
            return client


def _too_slow(target: Target, started: float) -> Failed:
    return Failed(
        FailureKind.TIMEOUT,
        f"No whole reply within {target.timeout_seconds:.0f} s.",
        possibly_billed=True,
        milliseconds=_since(started),
    )


def _since(started: float) -> int:
    return round((time.monotonic() - started) * 1000)


def _usage_of(message: Message) -> Usage:
    usage = message.usage
    details = getattr(usage, "output_tokens_details", None)
    return Usage(
        input=usage.input_tokens or 0,
        output=usage.output_tokens or 0,
        cache_read=usage.cache_read_input_tokens or 0,
        cache_write=usage.cache_creation_input_tokens or 0,
        thinking=getattr(details, "thinking_tokens", 0) or 0,
    )


def _failed_with_status(error: anthropic.APIStatusError, milliseconds: int) -> Failed:
    code = str(getattr(error, "error_code", "") or "")
    kind = str(getattr(error, "type", "") or "")
    status = error.status_code
    if "spend" in code or "limit_reached" in code or status == 402:
        what = FailureKind.LIMIT
    elif status in _BUSY:
        what = FailureKind.BUSY
    elif status in _FINAL:
        what = FailureKind.REFUSED
    else:
        what = FailureKind.BROKEN
    return Failed(
        what,
        _short(error.message),
        http_status=status,
        error_type=code or kind,
        request_id=error.request_id or "",
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
    try:
        return max(0.0, float(value)) if value else None
    except ValueError:
        return None


def _short(text: str) -> str:
    return text if len(text) <= 500 else text[:499] + "…"
