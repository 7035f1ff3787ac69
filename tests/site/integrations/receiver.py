"""A webhook receiver that verifies each request with the library that receivers use."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple, Self

from standardwebhooks import Webhook, WebhookVerificationError

from tests.site.loopback import Handler, serving


class Received(NamedTuple):
    """One request, with whether its signature was valid."""

    id: str
    document: dict[str, Any]
    headers: dict[str, str]
    body: bytes
    is_signed: bool


class Receiver:
    """A loopback server, used as a context manager. `answer` returns the status for a document."""

    def __init__(self) -> None:
        self.secret = ""
        self.received: list[Received] = []
        self.answer: Callable[[dict[str, Any]], int] = lambda _document: 204
        self.says = b""
        self.location = ""
        self.retry_after = ""
        self.address = ""
        receiver = self

        class Answer(Handler):
            def do_POST(self) -> None:
                status = receiver._take(self.read(), dict(self.headers.items()))
                given = {"location": receiver.location, "retry_after": receiver.retry_after}
                headers = {name: value for name, value in given.items() if value}
                self.answer(status, receiver.says if status != 204 else b"", **headers)

        self._serving = serving(Answer)

    def __enter__(self) -> Self:
        self.address = self._serving.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._serving.__exit__(*error)

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    @property
    def url(self) -> str:
        return f"{self.address}/in"

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
    """Return whether the library accepts the signature."""
    try:
        Webhook(secret).verify(body, headers)
    except WebhookVerificationError:
        return False
    return True
