"""Somebody's own program that webhooks are sent to: it checks each with the library that receivers use."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, NamedTuple, Self

from standardwebhooks import Webhook, WebhookVerificationError


class Received(NamedTuple):
    """One request: what it said, and whether its signature was good."""

    id: str
    document: dict[str, Any]
    headers: dict[str, str]
    body: bytes
    is_signed: bool


class Receiver:
    """In a `with`, a server on loopback; `answer` says which status it gives to which document."""

    def __init__(self) -> None:
        self.secret = ""
        self.received: list[Received] = []
        self.answer: Callable[[dict[str, Any]], int] = lambda _document: 204
        self.says = b""
        self.location = ""
        self.retry_after = ""
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                status = receiver._take(body, dict(self.headers.items()))
                self.send_response(status)
                if receiver.location:
                    self.send_header("location", receiver.location)
                if receiver.retry_after:
                    self.send_header("retry-after", receiver.retry_after)
                said = receiver.says if status != 204 else b""
                self.send_header("content-length", str(len(said)))
                self.end_headers()
                self.wfile.write(said)

            def log_message(self, *_given: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/in"

    @property
    def types(self) -> list[str]:
        return [one.document["type"] for one in self.received]

    def _take(self, body: bytes, headers: dict[str, str]) -> int:
        document = json.loads(body)
        lower = {name.lower(): value for name, value in headers.items()}
        is_signed = bool(self.secret) and is_genuine(self.secret, body, headers)
        said = Received(lower.get("webhook-id", ""), document, lower, body, is_signed)
        self.received.append(said)
        return self.answer(document)


def is_genuine(secret: str, body: bytes, headers: dict[str, str]) -> bool:
    """Whether the library lets it through."""
    try:
        Webhook(secret).verify(body, headers)
    except WebhookVerificationError:
        return False
    return True
