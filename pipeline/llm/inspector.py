"""Send requests that are not billed, through the SDK. Only workers import this module, like `client`."""

from __future__ import annotations

import time

import anthropic
import httpx2

from core.network.http_exchange import Exchange, under_way
from pipeline.llm.client import make_sdk
from pipeline.llm.failure_causes import explain_break
from pipeline.llm.probe_findings import Page
from pipeline.llm.transport import Limits
from pipeline.llm.types import Target

_SECONDS = 15.0
_MOST_WORDS = 300


class SdkInspector:
    """A client for GET and POST requests that are not billed. It uses the endpoint's own URL and key."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()

    def get(self, target: Target, path: str) -> Page:
        """Send a GET request. Server errors are returned as a Page."""
        return self._ask(target, path, None)

    def post(self, target: Target, path: str, body: dict[str, object]) -> Page:
        """Send a POST request. Server errors are returned as a Page."""
        return self._ask(target, path, body)

    def _ask(self, target: Target, path: str, body: dict[str, object] | None) -> Page:
        started = time.monotonic()
        exchange = Exchange(_SECONDS)
        try:
            with under_way(exchange), make_sdk(target, self._limits, seconds=_SECONDS) as client:
                if body is None:
                    answer = client.get(path, cast_to=httpx2.Response)
                else:
                    answer = client.post(path, cast_to=httpx2.Response, body=body)
        except anthropic.APIStatusError as error:
            return Page(error.status_code, message=str(error.message)[:_MOST_WORDS])
        except anthropic.APIConnectionError as error:
            failed = explain_break(
                error,
                exchange,
                seconds=_SECONDS,
                most_bytes=self._limits.most_bytes,
                milliseconds=round((time.monotonic() - started) * 1000),
            )
            return Page(None, message=failed.message[:_MOST_WORDS], trouble=failed.error_type)
        except (anthropic.AnthropicError, httpx2.InvalidURL) as error:
            said = f"The server is unreachable ({type(error).__name__})."
            return Page(None, message=said)
        return Page(answer.status_code, _json_of(answer))


def _json_of(answer: httpx2.Response) -> object:
    """Return the decoded JSON body, or None if it is invalid."""
    try:
        value: object = answer.json()
    except (ValueError, RecursionError):
        return None
    return value
