"""Classifies IP addresses: on this machine, private, or never to be connected to.

A name says nothing about where it leads, and an IPv6 address may contain an IPv4 address. So every address is
normalised first and then compared with the ranges that IANA and the cloud vendors have reserved.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from enum import StrEnum

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Zone(StrEnum):
    """The kind of network that an address is in."""

    LOOPBACK = "loopback"
    PRIVATE = "private"
    PUBLIC = "public"
    FORBIDDEN = "forbidden"


class ForbiddenAddress(Exception):
    """An address that may not be connected to; the text says which and why."""


# Metadata services that give out the machine's own credentials. Those at link-local addresses
# (169.254.169.254 and its like) are refused with all of link-local.
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
# Ways for IPv4 inside IPv6 that leave this machine: where they lead is said by the IPv4 address inside.
_CARRIERS = (
    (ipaddress.ip_network("64:ff9b::/96"), 0),  # NAT64: the last 32 bits
    (ipaddress.ip_network("2002::/16"), 80),  # 6to4: bits 16 to 48
)
_GLOBAL_IPV6 = ipaddress.ip_network("2000::/3")


def read_address(host: str) -> Address | None:
    """The address in a host field, with IPv4-mapped IPv6 as IPv4; None for a name."""
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def zone_of(address: Address) -> Zone:
    """The kind of network that the address is in."""
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
    """Whether machines of a cloud find their credentials under this name."""
    host = host.lower().rstrip(".")
    return host in _METADATA_NAMES or host.endswith(".metadata.google.internal")


def is_loopback_name(host: str) -> bool:
    """Whether the name stands for this machine by RFC 6761."""
    return host == "localhost" or host.endswith(".localhost")


def zones_of(found: Sequence[str]) -> dict[str, Zone]:
    """The kind of network of each address that a host resolved to, in their order."""
    # A zone of an interface ("%eth0") belongs to link-local addresses alone, which are forbidden.
    return {text: zone_of(ipaddress.ip_address(text.partition("%")[0])) for text in found}
