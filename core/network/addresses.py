"""Classify IP addresses as loopback, private, public or forbidden.

A host name does not reveal its address, and an IPv6 address can contain an IPv4 address. Each address is therefore
normalized and then compared with the ranges that IANA and cloud providers have reserved.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from enum import StrEnum

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Zone(StrEnum):
    """The kind of network to which an address belongs."""

    LOOPBACK = "loopback"
    PRIVATE = "private"
    PUBLIC = "public"
    FORBIDDEN = "forbidden"


class ForbiddenAddress(Exception):
    """Connections to the address are forbidden. The message contains the address and the reason."""


# Metadata services that return the machine's credentials. Services at link-local addresses, such as 169.254.169.254,
# are not listed, because all link-local addresses are forbidden.
_METADATA = frozenset(
    ipaddress.ip_address(text)
    for text in (
        "100.100.100.200",  # Alibaba Cloud
        "168.63.129.16",  # Azure
        "192.0.0.192",  # Oracle Cloud, older address
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
        "100.64.0.0/10",  # carrier-grade NAT, also used by VPNs such as Tailscale
        "fc00::/7",
    )
)
# IPv6 ranges that contain IPv4 addresses of other machines. The IPv4 address determines the zone.
_CARRIERS = (
    (ipaddress.ip_network("64:ff9b::/96"), 0),  # NAT64: the last 32 bits
    (ipaddress.ip_network("2002::/16"), 80),  # 6to4: bits 16 to 48
)
_GLOBAL_IPV6 = ipaddress.ip_network("2000::/3")


def read_address(host: str) -> Address | None:
    """Return the address in a host field, or None for a name. IPv4-mapped IPv6 addresses are returned as IPv4."""
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def zone_of(address: Address) -> Zone:
    """Return the kind of network to which an address belongs."""
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
    """Return whether the name belongs to a metadata service, from which cloud machines get their credentials."""
    host = host.lower().rstrip(".")
    return host in _METADATA_NAMES or host.endswith(".metadata.google.internal")


def is_loopback_name(host: str) -> bool:
    """Return whether the name always refers to this machine (RFC 6761)."""
    return host == "localhost" or host.endswith(".localhost")


def zones_of(found: Sequence[str]) -> dict[str, Zone]:
    """Return the kind of network for each address to which a host resolved, in the same order."""
    # An interface scope ("%eth0") occurs only in link-local addresses, which are forbidden.
    return {text: zone_of(ipaddress.ip_address(text.partition("%")[0])) for text in found}
