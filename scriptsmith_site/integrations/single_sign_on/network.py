"""Requests to the provider: checked IP addresses, a ten-second timeout and no redirects.

django-allauth uses `requests`, for which this module defines a transport adapter.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterable, Mapping
from functools import cache, partial
from typing import Any
from urllib.parse import urlsplit

import httpcore2
import requests
from django.conf import settings
from django.utils.translation import gettext as _
from requests.adapters import BaseAdapter
from requests.structures import CaseInsensitiveDict

from core.errors import BadInput
from core.network.addresses import ForbiddenAddress
from core.network.connections import JudgedNetwork
from core.network.http_exchange import Exchange, under_way
from scriptsmith_site.integrations.outbox.transport.addresses import (
    check_port,
    choose_addresses,
)

SECONDS = 10.0
MOST_OF_AN_ANSWER = 1024 * 1024  # bytes


class NotAnswered(requests.RequestException):
    """The provider was unreachable or sent an unusable response. Administrators see the message."""


def provider_session() -> requests.Session:
    """Return a `requests` session that ignores the environment's proxies and .netrc files."""
    session = requests.Session()
    session.trust_env = False
    session.mount("https://", _JudgedAdapter())
    session.mount("http://", _JudgedAdapter())
    return session


class _JudgedAdapter(BaseAdapter):
    def send(
        self, request: requests.PreparedRequest, *_given: Any, **_named: Any
    ) -> requests.Response:
        """Send the request and return the complete response. Raises NotAnswered."""
        url = str(request.url)
        headers = {
            "host": urlsplit(url).netloc,
            **{name.lower(): str(value) for name, value in request.headers.items()},
            "accept-encoding": "identity",
            "connection": "close",
            "user-agent": f"ScriptSmith/{settings.VERSION}",
        }
        body = request.body
        if not isinstance(body, bytes | str | None):
            raise TypeError("the body of a request to the provider must be bytes or text")
        status, answered, content = _exchange(str(request.method), url, headers, body)
        if 300 <= status < 400:
            raise NotAnswered(
                _("%s responded with a redirect, which is not allowed.") % _place(url)
            )
        response = requests.Response()
        response.status_code = status
        response.headers = CaseInsensitiveDict(answered)
        response.url, response.request = url, request
        response._content = content
        response.encoding = "utf-8"
        return response

    def close(self) -> None:
        """Do nothing, because no connection is kept open."""


def _exchange(
    method: str, url: str, headers: Mapping[str, str], body: bytes | str | None
) -> tuple[int, dict[str, str], bytes]:
    is_named = urlsplit(url).hostname == urlsplit(settings.SCRIPTSMITH_OIDC_ISSUER).hostname
    if urlsplit(url).netloc != urlsplit(settings.SCRIPTSMITH_OIDC_ISSUER).netloc:
        # The configured issuer may use any port, but URLs in its documents may not.
        _check_port(url)
    choose = partial(choose_addresses, is_encrypted=url.startswith("https:"), is_named=is_named)
    pool = httpcore2.ConnectionPool(
        ssl_context=_ssl_context(), max_connections=1, network_backend=JudgedNetwork(choose)
    )
    content = body.encode() if isinstance(body, str) else body
    given = [(name.encode(), value.encode()) for name, value in headers.items()]
    try:
        with (
            under_way(Exchange(SECONDS)),
            pool,
            pool.stream(method, url, headers=given, content=content) as reply,
        ):
            answered = {
                name.decode("latin-1"): value.decode("latin-1") for name, value in reply.headers
            }
            return reply.status, answered, _read(reply, url)
    except httpcore2.TimeoutException:
        words = _("%(place)s did not respond within %(seconds)s seconds.")
        raise NotAnswered(words % {"place": _place(url), "seconds": int(SECONDS)}) from None
    except (
        httpcore2.NetworkError,
        httpcore2.ProtocolError,
        httpcore2.UnsupportedProtocol,
    ) as error:
        raise NotAnswered(_why(error, url)) from error


def _check_port(url: str) -> None:
    try:
        check_port(urlsplit(url).port)
    except (BadInput, ValueError) as refusal:
        raise NotAnswered(f"{_place(url)}: {refusal}") from None


def _read(reply: httpcore2.Response, url: str) -> bytes:
    content = b""
    assert isinstance(reply.stream, Iterable)
    for piece in reply.stream:
        content += piece
        if len(content) > MOST_OF_AN_ANSWER:
            raise NotAnswered(
                _("The response from %s is larger than the limit of 1 MiB.") % _place(url)
            )
    return content


def _why(error: Exception, url: str) -> str:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ForbiddenAddress):
            return str(cause)
        if isinstance(cause, ssl.SSLCertVerificationError):
            return _("The certificate of %(place)s is not valid: %(why)s.") % {
                "place": _place(url),
                "why": cause.verify_message,
            }
        cause = cause.__cause__ or cause.__context__
    return _("The connection to %(place)s failed: %(why)s") % {
        "place": _place(url),
        "why": str(error)[:200] or type(error).__name__,
    }


def _place(url: str) -> str:
    """Return the URL without its query, which may contain a secret."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}{parts.path}"


@cache
def _ssl_context() -> ssl.SSLContext:
    """Return an SSL context that trusts the system's certificates. It is cached, because creating it is slow."""
    return ssl.create_default_context()
