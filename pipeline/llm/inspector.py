"""What costs nothing to ask a server, through the SDK. Like `client`, it is loaded only by who asks models."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout

import anthropic
import httpx2

from pipeline.llm.found import Page
from pipeline.llm.types import Target

_SECONDS = 15.0
_MOST_BYTES = 4_000_000
_MOST_WORDS = 300


class SdkInspector:
    """GET and POST of addresses that no server bills, with the endpoint's own address and key."""

    def __init__(self) -> None:
        # The SDK's timeout is per read: whoever waits keeps an eye on the clock, as the client does.
        self._pool = ThreadPoolExecutor(4, thread_name_prefix="inspect")

    def get(self, target: Target, path: str) -> Page:
        """The answer as a Page, whatever the server does."""
        return self._ask(target, path, None)

    def post(self, target: Target, path: str, body: dict[str, object]) -> Page:
        """The answer as a Page, whatever the server does."""
        return self._ask(target, path, body)

    def _ask(self, target: Target, path: str, body: dict[str, object] | None) -> Page:
        future = self._pool.submit(_send, target, path, body)
        try:
            return future.result(timeout=_SECONDS + 2)
        except FutureTimeout:
            future.cancel()
            return Page(None, message=f"No whole answer within {_SECONDS:.0f} s.")


def _send(target: Target, path: str, body: dict[str, object] | None) -> Page:
    try:
        with anthropic.Anthropic(
            api_key=target.key, base_url=target.base_url, timeout=_SECONDS, max_retries=0
        ) as client:
            if body is None:
                answer = client.get(path, cast_to=httpx2.Response)
            else:
                answer = client.post(path, cast_to=httpx2.Response, body=body)
    except anthropic.APIStatusError as error:
        return Page(error.status_code, message=str(error.message)[:_MOST_WORDS])
    except anthropic.APITimeoutError:
        return Page(None, message=f"No answer within {_SECONDS:.0f} s.")
    except (anthropic.AnthropicError, httpx2.HTTPError, httpx2.InvalidURL) as error:
        cause = error.__cause__ or error
        return Page(None, message=f"The server can't be reached ({type(cause).__name__}).")
    return Page(answer.status_code, _json_of(answer))


def _json_of(answer: httpx2.Response) -> object:
    """The body as JSON; None where it is something else, or far too long."""
    if len(answer.content) > _MOST_BYTES:
        return None
    try:
        value: object = answer.json()
    except (ValueError, RecursionError):
        return None
    return value
