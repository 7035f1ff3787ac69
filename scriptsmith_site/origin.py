"""The origin of a request (address, user agent and request ID), available to all code that handles it."""

from __future__ import annotations

import ipaddress
import logging
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import NamedTuple

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from scriptsmith_site import logs

LONGEST_AGENT = 120
_SHORT_IPV6 = 64  # bits of the smallest network that providers assign to a customer
_UNIX_SOCKET = "127.0.0.1"  # a peer on a Unix socket has no address and is on this machine

_log = logging.getLogger(__name__)
_warned_of: set[str] = set()

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Origin(NamedTuple):
    """The origin of a request. All fields are empty outside of requests, such as on the command line."""

    address: str | None = None
    agent: str = ""
    request_id: str = ""


_NOWHERE = Origin()
_current: ContextVar[Origin] = ContextVar("origin", default=_NOWHERE)


def current_origin() -> Origin:
    """Return the origin of the request that this thread handles."""
    return _current.get()


class OriginMiddleware:
    """Middleware that sets REMOTE_ADDR to the client's address, which both logs and all limits use.

    X-Forwarded-For is used only if a proxy in SCRIPTSMITH_TRUSTED_PROXIES sent the request. Only entries that such
    proxies wrote are used, because any client can send the header.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        forwarded = request.META.pop("HTTP_X_FORWARDED_FOR", "")
        request.META.pop("HTTP_X_FORWARDED_PORT", None)
        peer = request.META.get("REMOTE_ADDR") or _UNIX_SOCKET
        address = client_address(peer, forwarded, trusted=settings.SCRIPTSMITH_TRUSTED_PROXIES)
        request.META["REMOTE_ADDR"] = address or peer
        agent = printable(request.META.get("HTTP_USER_AGENT", ""), most=LONGEST_AGENT)
        token = _current.set(Origin(address, agent, logs.request_id.get()))
        try:
            return self.get_response(request)
        finally:
            _current.reset(token)


def client_address(peer: str, forwarded: str, *, trusted: Sequence[str]) -> str | None:
    """Return the client's address, or None if the peer's address is invalid.

    `forwarded` is read backward from the nearest proxy's entry, as long as each address belongs to a trusted proxy.
    """
    address = _read(peer)
    if address is None:
        return None
    if forwarded and not _is_among(address, trusted):
        _warn_once(str(address))
        return str(address)
    for text in reversed(forwarded.split(",") if forwarded else []):
        before = _read(text)
        if before is None:
            break
        address = before
        if not _is_among(address, trusted):
            break
    return str(address)


def shared_part(address: str | None) -> str:
    """Return the part of an address to which limits apply.

    For IPv6, it is the /64 network, which one customer controls.
    """
    read = _read(address or "")
    if isinstance(read, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((read, _SHORT_IPV6), strict=False))
    return str(read or "")


def printable(text: str, *, most: int) -> str:
    """Return the truncated text, with each invisible or direction-changing character replaced."""
    return "".join(c if c.isprintable() else "�" for c in text[:most])


def _read(text: str) -> Address | None:
    text = text.strip().strip('"')
    if text.startswith("["):  # such as [2001:db8::1]:443
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:  # such as 192.0.2.1:443
        text = text.partition(":")[0]
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        return address.ipv4_mapped
    return address


def _is_among(address: Address, networks: Sequence[str]) -> bool:
    return any(address in ipaddress.ip_network(network, strict=False) for network in networks)


def _warn_once(peer: str) -> None:
    """Warn about an unlisted proxy. All users behind it share one address and its limits."""
    if peer not in _warned_of and len(_warned_of) < 100:
        _warned_of.add(peer)
        _log.warning(
            "X-Forwarded-For from %s is ignored. If that is your proxy, name it in SCRIPTSMITH_TRUSTED_PROXIES.",
            peer,
        )
