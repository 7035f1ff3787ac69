"""Classifies IP addresses as local, private, public or forbidden.

A host name does not reveal its address, and an IPv6 address may contain an IPv4 address. So every address is
normalized and then compared with the ranges that IANA and the cloud vendors have reserved.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from enum import StrEnum

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Zone(StrEnum):
    """The kind of network of an address."""

    LOOPBACK = "loopback"
    PRIVATE = "private"
    PUBLIC = "public"
    FORBIDDEN = "forbidden"


class ForbiddenAddress(Exception):
    """An address to which connections are forbidden; the text says which and why."""


# Metadata services that return the machine's own credentials. Those at link-local addresses, such as 169.254.169.254,
# are forbidden with all of link-local.
_METADATA = frozenset(
    ipaddress.ip_address(text)
    for text in (
        "100.100.100.200",  # Alibaba Cloud
        "168.63.129.16",  # Azure's host
        "192.0.0.192",  # Oracle Cloud, the older form
        "fd00:ec2::254",  # AWS
        "fd00:ec2::23",  # AWS, container credentials
        "fd20:ce::254",  # Google Cloud
        "fd00:42::42",  # Scaleway
    )
)
_METADATA_NAMES = frozenset(
    {
        "metadata",
        "metadata.google.internal",
        "metadata.goog",
        "metadata.azure.internal",
        "instance-data",
        "instance-data.ec2.internal",
        "metadata.tencentyun.com",
    }
)
_PRIVATE = tuple(
    ipaddress.ip_network(text)
    for text in (
        "10.0.0.0/8",
        "172.16.0.0/12",
        "192.168.0.0/16",
        "100.64.0.0/10",  # shared by carriers; VPNs such as Tailscale use it
        "fc00::/7",
    )
)
# IPv6 ranges that carry IPv4 traffic off this machine; the IPv4 address inside decides.
_CARRIERS = (
    (ipaddress.ip_network("64:ff9b::/96"), 0),  # NAT64: the last 32 bits
    (ipaddress.ip_network("2002::/16"), 80),  # 6to4: bits 16 to 48
)
_GLOBAL_IPV6 = ipaddress.ip_network("2000::/3")


def read_address(host: str) -> Address | None:
    """Return the address in a host field, with IPv4-mapped IPv6 as IPv4; None for a name."""
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def zone_of(address: Address) -> Zone:
    """Return the kind of network of an address."""
    address = getattr(address, "ipv4_mapped", None) or address
    if address in _METADATA or address.is_link_local or address.is_unspecified:
        return Zone.FORBIDDEN
    if address.is_loopback:
        return Zone.LOOPBACK
    if any(address in network for network in _PRIVATE):
        return Zone.PRIVATE
    for network, shift in _CARRIERS:
        if address in network:
            inner = ipaddress.IPv4Address((int(address) >> shift) & 0xFFFFFFFF)
            return Zone.PUBLIC if zone_of(inner) is Zone.PUBLIC else Zone.FORBIDDEN
    if isinstance(address, ipaddress.IPv6Address) and address not in _GLOBAL_IPV6:
        return Zone.FORBIDDEN
    good = address.is_global and not (address.is_multicast or address.is_reserved)
    return Zone.PUBLIC if good else Zone.FORBIDDEN


def is_metadata_name(host: str) -> bool:
    """Return whether cloud machines get their credentials under this name."""
    host = host.lower().rstrip(".")
    return host in _METADATA_NAMES or host.endswith(".metadata.google.internal")


def is_loopback_name(host: str) -> bool:
    """Return whether the name means this machine (RFC 6761)."""
    return host == "localhost" or host.endswith(".localhost")


def zones_of(found: Sequence[str]) -> dict[str, Zone]:
    """Return the kind of network of each address that a host resolved to, in the same order."""
    # An interface scope ("%eth0") occurs only in link-local addresses, which are forbidden.
    return {text: zone_of(ipaddress.ip_address(text.partition("%")[0])) for text in found}
