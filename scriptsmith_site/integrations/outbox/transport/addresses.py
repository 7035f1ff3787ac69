"""The allowed receiver addresses: public addresses with TLS, and private addresses in SCRIPTSMITH_OUT_NETWORKS."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.translation import gettext as _

from core.errors import BadInput
from core.network.addresses import (
    ForbiddenAddress,
    Zone,
    is_metadata_name,
    read_address,
    zones_of,
)

LONGEST_ADDRESS = 500
# The last label must begin with a letter, because some resolvers read a numeric label as an IP address.
_HOST_NAME = re.compile(
    r"(?=.{1,253}$)([a-z0-9_]([a-z0-9_-]*[a-z0-9])?\.)*[a-z]([a-z0-9-]*[a-z0-9])?"
)
_FIRST_FREE_PORT = 1024


def read_url(text: str) -> str:
    """Validate a receiver's URL, and return it in its stored form. Raises BadInput."""
    text = text.strip()
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise _refuse(_("Enter a valid address, such as https://hooks.example.org/in.")) from None
    host = parts.hostname or ""
    if parts.scheme not in ("http", "https") or not _is_host(host):
        raise _refuse(_("Enter a valid address, such as https://hooks.example.org/in."))
    if len(text) > LONGEST_ADDRESS or not text.isascii() or re.search(r"[\s\\\x00-\x1f]", text):
        raise _refuse(_("The address is too long or has invalid characters."))
    if parts.username is not None or parts.password is not None:
        raise _refuse(
            _(
                "Remove the username and password from the address. Receivers verify the signature "
                "instead."
            )
        )
    if parts.fragment or text.endswith("#"):
        raise _refuse(_("Remove the part of the address after “#”."))
    check_port(port)
    check_host(host, is_encrypted=parts.scheme == "https")
    return text


def check_port(port: int | None, *, usual: Sequence[int] = (80, 443)) -> None:
    """Raise BadInput for ports below 1024 that are not `usual`, because other services listen there."""
    if port is not None and port not in usual and port < _FIRST_FREE_PORT:
        raise _refuse(_("Connections to port %s are not allowed.") % port)


def check_host(host: str, *, is_encrypted: bool) -> None:
    """Raise BadInput if the host is invalid, or if its name or literal IP address is forbidden."""
    if not _is_host(host):
        raise _refuse(_("Enter a valid address, such as https://hooks.example.org/in."))
    try:
        if is_metadata_name(host):
            choose_addresses(host, [], is_encrypted=True)
        if (address := read_address(host)) is not None:
            choose_addresses(host, [str(address)], is_encrypted=is_encrypted)
    except ForbiddenAddress as refusal:
        raise _refuse(str(refusal)) from None


def choose_addresses(
    host: str, found: Sequence[str], *, is_encrypted: bool, is_named: bool = False
) -> list[str]:
    """Return the IP addresses of a host to which connections are allowed. Raises ForbiddenAddress if all are forbidden.

    `is_named` means that a setting names the host, which may then be in any private network.
    """
    if is_metadata_name(host):
        raise ForbiddenAddress(_("%s is a cloud metadata service, which is blocked.") % host)
    zones = zones_of(found)
    chosen = [text for text in found if _may_be_sent_to(text, zones[text], is_encrypted, is_named)]
    if not chosen:
        raise ForbiddenAddress(_why_none(host, zones))
    return chosen


def _may_be_sent_to(text: str, zone: Zone, is_encrypted: bool, is_named: bool) -> bool:
    if zone is Zone.PUBLIC:
        return is_encrypted
    return zone is not Zone.FORBIDDEN and (is_named or _is_allowed(text))


def _is_allowed(text: str) -> bool:
    """Return whether a setting allows the network of the address."""
    address = read_address(text)
    networks = (
        ipaddress.ip_network(one, strict=False) for one in settings.SCRIPTSMITH_OUT_NETWORKS
    )
    return address is not None and any(address in network for network in networks)


def _why_none(host: str, zones: dict[str, Zone]) -> str:
    if not zones:
        return _("%s was not found.") % host
    text, zone = next(iter(zones.items()))
    leads = (
        host
        if host.strip("[]") == text
        else _("%(host)s resolves to %(text)s, which")
        % {
            "host": host,
            "text": text,
        }
    )
    if zone is Zone.FORBIDDEN:
        return _("%s is a link-local, metadata or reserved address.") % leads
    if zone is Zone.PUBLIC:
        return (
            _(
                "%s is public. Use https://, because unencrypted connections to public addresses are "
                "blocked."
            )
            % leads
        )
    return _("%s is in a private network that is not listed in SCRIPTSMITH_OUT_NETWORKS.") % leads


def _is_host(host: str) -> bool:
    address = read_address(host)
    if address is not None:
        return "%" not in host and (":" in host or str(address) == host)
    return bool(_HOST_NAME.fullmatch(host))


def _refuse(message: str) -> BadInput:
    return BadInput(message, field="address")
