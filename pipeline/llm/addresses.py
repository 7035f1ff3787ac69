"""The allowed IP addresses of model servers, and the rules for using the proxy."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from core.network.addresses import (
    ForbiddenAddress,
    Zone,
    is_loopback_name,
    is_metadata_name,
    read_address,
    zone_of,
    zones_of,
)


def goes_by_proxy(base_url: str, proxy: str) -> bool:
    """Return whether a request to this URL uses the proxy. Requests to local and private addresses do not."""
    host = urlsplit(base_url).hostname or ""
    address = read_address(host)
    if not proxy or is_loopback_name(host):
        return False
    if address is not None:
        return zone_of(address) is Zone.PUBLIC
    return base_url.startswith("https:")


def choose_addresses(host: str, found: Sequence[str], *, is_encrypted: bool) -> list[str]:
    """Return those resolved addresses of a host that the rules allow, in their original order.

    A name for this machine must resolve to this machine. Unencrypted requests may only go to this machine or private
    networks. Raises ForbiddenAddress if no address is left.
    """
    if is_metadata_name(host):
        raise ForbiddenAddress(f"{host} is a cloud metadata service and is blocked.")
    allowed = {Zone.LOOPBACK, Zone.PRIVATE}
    if is_loopback_name(host):
        allowed = {Zone.LOOPBACK}
    elif is_encrypted:
        allowed = {Zone.LOOPBACK, Zone.PRIVATE, Zone.PUBLIC}
    zones = zones_of(found)
    chosen = [text for text in found if zones[text] in allowed]
    if not chosen:
        raise ForbiddenAddress(_why_none(host, zones))
    return chosen


def _why_none(host: str, zones: dict[str, Zone]) -> str:
    text, zone = next(iter(zones.items()))
    leads = host if host.strip("[]") == text else f"{host} resolves to {text}, which"
    if zone is Zone.FORBIDDEN:
        return f"{leads} is a link-local, metadata or reserved address and is blocked."
    if is_loopback_name(host):
        return f"{leads} is not this machine."
    return f"{leads} is a public address and requires encryption (https://)."
