"""Send one POST to a checked IP address, with a timeout, no redirects and a limited response size."""

from __future__ import annotations

import ssl
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import cache, partial
from typing import NamedTuple
from urllib.parse import urlsplit

import httpcore2
from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _
from standardwebhooks import Webhook
from standardwebhooks.webhooks import EmptyWebhookSecretError

from core.network.addresses import ForbiddenAddress
from core.network.connections import JudgedNetwork
from core.network.http_exchange import Exchange, under_way
from scriptsmith_site.integrations.outbox.transport.addresses import choose_addresses

SECONDS = 5.0
MOST_OF_AN_ANSWER = 1024  # bytes
MOST_OF_A_BODY = 64 * 1024
GONE = 410
# A receiver cannot request a longer pause.
LONGEST_WAIT = timedelta(hours=6)
_AWAY = (429, 502, 503, 504)


class Answer(NamedTuple):
    """The result of an attempt. `error` is empty on success, and `is_away` means that the receiver is unavailable.

    `wait` is the pause that the receiver requests with Retry-After.
    """

    error: str = ""
    status: int | None = None
    text: str = ""
    is_away: bool = False
    wait: timedelta | None = None


def send_signed(url: str, body: str, *, uid: str, secrets: Iterable[str], now: datetime) -> Answer:
    """Send the body, signed with each secret. Errors of the receiver are returned and not raised."""
    content = body.encode()
    if len(content) > MOST_OF_A_BODY:
        return Answer(error=_("The event is larger than 64 KiB and was not sent."))
    try:
        signatures = " ".join(Webhook(one).sign(uid, now, body) for one in secrets)
    except (ValueError, EmptyWebhookSecretError):
        return Answer(
            error=_(
                "The secret does not have the Standard Webhooks format (whsec_ followed by base64)."
            )
        )
    headers = {
        "webhook-id": uid,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": signatures,
    }
    return post(url, content, headers)


def post(
    url: str, content: bytes, headers: Mapping[str, str] | None = None, *, is_named: bool = False
) -> Answer:
    """Send a JSON document. Errors of the receiver are returned and not raised.

    `is_named` means that a setting names the host, which may then be in a private network.
    """
    choose = partial(choose_addresses, is_encrypted=url.startswith("https:"), is_named=is_named)
    exchange = Exchange(SECONDS)
    pool = httpcore2.ConnectionPool(
        ssl_context=_ssl_context(),
        max_connections=1,
        network_backend=JudgedNetwork(choose),
    )
    all_headers = {
        "host": urlsplit(url).netloc,
        "content-type": "application/json",
        "content-length": str(len(content)),
        "accept-encoding": "identity",
        "user-agent": f"ScriptSmith/{settings.VERSION}",
        **(headers or {}),
    }
    given = [(name.encode(), value.encode()) for name, value in all_headers.items()]
    try:
        with (
            under_way(exchange),
            pool,
            pool.stream("POST", url, headers=given, content=content) as reply,
        ):
            return _read(reply)
    except httpcore2.TimeoutException:
        return Answer(
            error=_("The server did not respond within %s seconds.") % int(SECONDS), is_away=True
        )
    except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
        return Answer(error=_why(error), is_away=True)


def _read(reply: httpcore2.Response) -> Answer:
    kept = b""
    assert isinstance(reply.stream, Iterable)
    for piece in reply.stream:
        kept += piece
        if len(kept) >= MOST_OF_AN_ANSWER:
            break
    text = kept[:MOST_OF_AN_ANSWER].decode("utf-8", "replace").replace("\0", "\ufffd")
    if 200 <= reply.status < 300:
        return Answer("", reply.status, text)
    if 300 <= reply.status < 400:
        words = _("The server responded with a redirect (%s). Enter the target address instead.")
    else:
        words = _("The server responded with %s.")
    is_away = reply.status in _AWAY
    wait = read_wait(reply.headers, now=timezone.now()) if is_away else None
    return Answer(words % reply.status, reply.status, text, is_away, wait)


def read_wait(headers: Iterable[tuple[bytes, bytes]], *, now: datetime) -> timedelta | None:
    """Return the pause that Retry-After requests, in seconds or as a date, or None if the header is invalid."""
    said = next((value for name, value in headers if name.lower() == b"retry-after"), b"")
    text = said.decode("latin-1").strip()
    if text.isascii() and text.isdecimal():
        return timedelta(seconds=int(text)) if len(text) < 8 else LONGEST_WAIT
    try:
        until = parsedate_to_datetime(text)
    except ValueError:
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max(timedelta(), until - now)


def _why(error: Exception) -> str:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ForbiddenAddress):
            return str(cause)
        if isinstance(cause, ssl.SSLCertVerificationError):
            return _("The server's certificate is not valid: %s.") % cause.verify_message
        cause = cause.__cause__ or cause.__context__
    return _("The connection failed: %s") % (str(error)[:200] or type(error).__name__)


@cache
def _ssl_context() -> ssl.SSLContext:
    """Return an SSL context that trusts the system's certificates. It is cached, because creating it is slow."""
    return ssl.create_default_context()
