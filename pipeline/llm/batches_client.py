"""A client for Message Batches, which answer many requests within a day. Only workers import this module."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar, cast

import anthropic

from core.network.http_exchange import Exchange, under_way
from pipeline.llm.client import broken, failed_with_status, make_sdk, read_message, short
from pipeline.llm.failure_causes import explain_break
from pipeline.llm.transport import Limits
from pipeline.llm.types import (
    Answered,
    Failed,
    FailureKind,
    RemoteBatch,
    Request,
    Target,
    UnreadableResults,
)

T = TypeVar("T")

# Enough for 10,000 replies of typical size. The limit for a single reply applies to each line.
MOST_RESULT_BYTES = 1_000_000_000
_RESULTS_SECONDS = 900.0
# How many of the newest batches to search for a batch.
_MOST_LISTED = 1_000
_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")
# Errors of a single request for which a retry is pointless.
_FINAL = {
    "invalid_request_error",
    "authentication_error",
    "permission_error",
    "not_found_error",
    "request_too_large",
}


class MessageBatchesClient:
    """A client that creates, polls, cancels and reads Message Batches. It never retries, and it returns server errors
    instead of raising exceptions.
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()

    def create(self, target: Target, requests: Mapping[str, Request]) -> RemoteBatch | Failed:
        """Send the requests, keyed by custom id, as one batch.

        Call this method only once for each batch, because servers do not detect duplicates.
        """
        listed = [{"custom_id": name, "params": _params_of(one)} for name, one in requests.items()]
        return self._ask(target, lambda raw: raw.create(requests=cast(Any, listed)), _read_batch)

    def retrieve(self, target: Target, remote_id: str) -> RemoteBatch | Failed:
        """Return the state of the batch."""
        return self._ask(target, lambda raw: raw.retrieve(remote_id), _read_batch)

    def cancel(self, target: Target, remote_id: str) -> RemoteBatch | Failed:
        """Cancel the batch. The server starts no more requests, but finished requests keep their results."""
        return self._ask(target, lambda raw: raw.cancel(remote_id), _read_batch)

    def newest(self, target: Target) -> list[RemoteBatch] | Failed:
        """Return the server's newest batches, at most 1,000, from all clients that use this key."""
        return self._ask(target, lambda raw: raw.list(limit=_MOST_LISTED), _read_list)

    def results(self, target: Target, remote_id: str) -> Iterator[tuple[str, Answered | Failed]]:
        """Yield the custom id and result of each request, in any order, as they arrive. Raises UnreadableResults."""
        limits = Limits(MOST_RESULT_BYTES, self._limits.proxy)
        exchange, started = Exchange(_RESULTS_SECONDS), time.monotonic()
        try:
            with (
                under_way(exchange),
                make_sdk(target, limits, seconds=target.timeout_seconds) as sdk,
                sdk.messages.batches.with_streaming_response.results(remote_id) as response,
            ):
                for line in split_lines(response.iter_bytes(), most=self._limits.most_bytes):
                    yield read_result(line)
        except Exception as error:
            # A broken stream raises exceptions of the HTTP library, not of the SDK.
            failed = self._explain(error, exchange, target, _since(started))
            raise UnreadableResults(
                failed or self._explain_break(error, exchange, target, _since(started))
            ) from error

    def _ask(
        self, target: Target, call: Callable[[Any], Any], read: Callable[[object], T | None]
    ) -> T | Failed:
        exchange, started = Exchange(target.timeout_seconds), time.monotonic()
        try:
            with (
                under_way(exchange),
                make_sdk(target, self._limits, seconds=target.timeout_seconds) as sdk,
            ):
                said = json.loads(
                    call(sdk.messages.batches.with_raw_response).http_response.content
                )
        except Exception as error:
            failed = self._explain(error, exchange, target, _since(started))
            return failed or broken(
                f"The reply can't be parsed: {type(error).__name__}.", _since(started)
            )
        found = read(said)
        return (
            broken("The reply is not a Message Batch.", _since(started)) if found is None else found
        )

    def _explain(
        self, error: Exception, exchange: Exchange, target: Target, milliseconds: int
    ) -> Failed | None:
        """Return why the server gave no reply, or None if the server did not cause the exception."""
        if isinstance(error, anthropic.APIStatusError):
            return failed_with_status(error, milliseconds)
        if isinstance(error, anthropic.APIConnectionError):
            return self._explain_break(error, exchange, target, milliseconds)
        if isinstance(error, anthropic.AnthropicError):
            return broken(short(str(error)), milliseconds)
        return None

    def _explain_break(
        self, error: Exception, exchange: Exchange, target: Target, milliseconds: int
    ) -> Failed:
        return explain_break(
            error,
            exchange,
            seconds=target.timeout_seconds,
            most_bytes=self._limits.most_bytes,
            milliseconds=milliseconds,
        )


def split_lines(chunks: Iterable[bytes], *, most: int) -> Iterator[bytes]:
    """Yield the nonempty lines of a stream. Lines longer than `most` bytes are skipped."""
    kept, is_too_long = bytearray(), False
    for chunk in chunks:
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            kept += end
            if kept.strip() and not is_too_long and len(kept) <= most:
                yield bytes(kept)
            kept, is_too_long = bytearray(), False
        kept += rest
        if len(kept) > most:
            kept, is_too_long = bytearray(), True
    if kept.strip() and not is_too_long:
        yield bytes(kept)


def read_result(line: bytes) -> tuple[str, Answered | Failed]:
    """Return the custom id and the result in a line. The id is empty if the line is invalid."""
    try:
        told = json.loads(line)
    except (ValueError, RecursionError):
        told = None
    custom_id = told.get("custom_id") if isinstance(told, dict) else None
    result = told.get("result") if isinstance(told, dict) else None
    if not isinstance(custom_id, str) or not isinstance(result, dict):
        return "", broken("A result can't be parsed.", 0)
    return custom_id, _read_kind(result)


def _read_kind(result: dict[str, object]) -> Answered | Failed:
    match result.get("type"):
        case "succeeded":
            message = result.get("message")
            return read_message(message if isinstance(message, dict) else {})
        case "errored":
            return _read_error(result.get("error"))
        case "canceled":
            return Failed(
                FailureKind.CANCELLED, "The request was canceled before the model replied."
            )
        case "expired":
            return Failed(FailureKind.EXPIRED, "The batch expired before the model replied.")
    return broken("A result has an unknown type.", 0)


def _read_error(told: object) -> Failed:
    """Return the error of one request. The API wraps it like the error of a whole reply."""
    inner = told.get("error") if isinstance(told, dict) else None
    error = inner if isinstance(inner, dict) else told if isinstance(told, dict) else {}
    kind, said = str(error.get("type") or ""), short(str(error.get("message") or ""))
    if kind == "billing_error":
        what = FailureKind.LIMIT
    else:
        what = FailureKind.REFUSED if kind in _FINAL else FailureKind.BROKEN
    return Failed(what, said, error_type=short(kind))


def _params_of(request: Request) -> dict[str, object]:
    """Return the parameters of a request, including `extra_body`, which the SDK would add to a single request."""
    extra = request.get("extra_body")
    params = {name: value for name, value in request.items() if name != "extra_body"}
    return params | (extra if isinstance(extra, dict) else {})


def _read_list(told: object) -> list[RemoteBatch] | None:
    rows = told.get("data") if isinstance(told, dict) else None
    if not isinstance(rows, list):
        return None
    return [batch for row in rows if (batch := _read_batch(row)) is not None]


def _read_batch(told: object) -> RemoteBatch | None:
    """Return the batch that the server describes, or None if the description is invalid."""
    if not isinstance(told, dict):
        return None
    name, status, counts = told.get("id"), told.get("processing_status"), told.get("request_counts")
    created, expires = _moment(told.get("created_at")), _moment(told.get("expires_at"))
    if not isinstance(name, str) or not _ID.fullmatch(name) or not isinstance(counts, dict):
        return None
    if created is None or expires is None or not isinstance(status, str):
        return None
    numbers = [value for value in counts.values() if isinstance(value, int)]
    return RemoteBatch(
        id=name,
        is_ended=status == "ended",
        is_canceling=status == "canceling",
        requests=sum(numbers),
        created_at=created,
        expires_at=expires,
    )


def _moment(value: object) -> datetime | None:
    try:
        found = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _since(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
