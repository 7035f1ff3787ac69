"""Where a request comes from: address, program and request id, known to whatever the request leads to."""

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
_SHORT_IPV6 = 64  # bits: what one customer of a provider has at least
_UNIX_SOCKET = "127.0.0.1"  # a peer on a Unix socket has no address, and is on this machine

_log = logging.getLogger(__name__)
_warned_of: set[str] = set()

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Origin(NamedTuple):
    """Of one request; all empty outside requests, on the command line."""

    address: str | None = None
    agent: str = ""
    request_id: str = ""


_NOWHERE = Origin()
_current: ContextVar[Origin] = ContextVar("origin", default=_NOWHERE)


def current_origin() -> Origin:
    """The origin of the request that is being answered in this thread."""
    return _current.get()


class OriginMiddleware:
    """REMOTE_ADDR is the client's address from here on: in the audit log, the security log and every limit.

    X-Forwarded-For counts only where a proxy named in SCRIPTSMITH_TRUSTED_PROXIES has sent the request, and
    of it only what such proxies wrote: anybody can send the header.
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
    """The address of who asks; None where the peer's can't be read.

    `forwarded` is read from its end, where the proxy nearest to us wrote, for as long as the address before
    is a trusted proxy's.
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
    """What is counted as one address: for IPv6 its first 64 bits, for one person has all that begin with them."""
    read = _read(address or "")
    if isinstance(read, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((read, _SHORT_IPV6), strict=False))
    return str(read or "")


def printable(text: str, *, most: int) -> str:
    """The text cut short, with a mark for each character that can't be seen or changes direction."""
    return "".join(c if c.isprintable() else "�" for c in text[:most])


def _read(text: str) -> Address | None:
    text = text.strip().strip('"')
    if text.startswith("["):  # [2001:db8::1]:443
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:  # 192.0.2.1:443
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
    """Behind an unnamed proxy everybody has one address, and its limit would shut everybody out."""
    if peer not in _warned_of and len(_warned_of) < 100:
        _warned_of.add(peer)
        _log.warning(
            "X-Forwarded-For from %s is ignored. If that is your proxy, name it in SCRIPTSMITH_TRUSTED_PROXIES.",
            peer,
        )
