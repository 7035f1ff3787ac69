"""Deliver a response, intact or with a transport fault."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from pipeline.standin.server.faults import Fault


class HangUp(Exception):
    """Raised after the last byte, so that uvicorn closes the connection without notice."""


class _DyingResponse(Response):
    """A response that announces the whole body, sends half of it and drops the connection."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await _start(self, send)
        await send(
            {
                "type": "http.response.body",
                "body": self.body[: len(self.body) // 2],
                "more_body": True,
            }
        )


class _ClosingResponse(Response):
    """A complete response, after which the keep-alive connection is closed without notice."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await super().__call__(scope, receive, send)
        raise HangUp


class _DrippingResponse(Response):
    """A response that sends the first bytes one by one, so that no single read takes long."""

    def __init__(
        self, content: bytes, *, headers: Mapping[str, str], count: int, seconds: float
    ) -> None:
        super().__init__(content, headers=headers, media_type="application/json")
        self._count = count
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await _start(self, send)
        for at in range(min(self._count, len(self.body))):
            await send(
                {"type": "http.response.body", "body": self.body[at : at + 1], "more_body": True}
            )
            await asyncio.sleep(self._seconds)
        await send(
            {"type": "http.response.body", "body": self.body[self._count :], "more_body": False}
        )


async def _start(response: Response, send: Send) -> None:
    headers = response.raw_headers
    await send({"type": "http.response.start", "status": response.status_code, "headers": headers})


def write_json(value: object) -> bytes:
    """Encode `value` as UTF-8 JSON, or as ASCII JSON if it contains an unpaired surrogate."""
    try:
        return json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(value).encode()


def deliver(content: object, *, headers: Mapping[str, str], fault: Fault | None) -> Response:
    """Return `content` as a JSON response with status 200, with `fault` applied."""
    return _deliver(write_json(content), "application/json", headers, fault)


def deliver_lines(body: bytes, *, headers: Mapping[str, str], fault: Fault | None) -> Response:
    """Return a JSON Lines response with status 200, with `fault` applied."""
    return _deliver(body, "application/x-jsonl", headers, fault)


def _deliver(body: bytes, kind: str, headers: Mapping[str, str], fault: Fault | None) -> Response:
    way = fault.kind if fault else ""
    if fault and way == "drip":
        return _DrippingResponse(body, headers=headers, count=fault.bytes, seconds=fault.seconds)
    if way == "cut":
        body = body[: len(body) // 2]
    shape = {"death": _DyingResponse, "close": _ClosingResponse}.get(way, Response)
    return shape(body, headers=headers, media_type=kind)
