"""Determine whether requests to an endpoint leave this machine."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.conf import settings

from core.network.addresses import Zone, is_loopback_name, read_address, zone_of
from pipeline.models import Endpoint


def is_loopback(base_url: str) -> bool:
    """Return whether requests to the URL stay on this machine. The client blocks local names that resolve elsewhere."""
    if base_url in (Endpoint.DEMO, Endpoint.LOCAL):
        return True
    host = urlsplit(base_url).hostname or ""
    address = read_address(host)
    if address is not None:
        return zone_of(address) is Zone.LOOPBACK
    return is_loopback_name(host)


def may_bill(endpoint: Endpoint) -> bool:
    """Return whether calls to the endpoint may be billed. This includes the demo model, so that the demo shows the same
    pages.
    """
    return endpoint.demo or leaves_machine(endpoint)


def leaves_machine(endpoint: Endpoint) -> bool:
    """Return whether texts sent to the endpoint leave this machine, because of its address or its setting."""
    address = endpoint.base_url
    if endpoint.demo:
        address = settings.SCRIPTSMITH_DEMO_MODEL_URL or Endpoint.DEMO
    return endpoint.treat_as_remote or not is_loopback(address)
