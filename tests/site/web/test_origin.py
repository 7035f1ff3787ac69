"""Tests that the client address is the peer's address, or the address that a trusted proxy reports."""

from __future__ import annotations

import logging

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from pytest_django import Settings

from scriptsmith_site import origin
from scriptsmith_site.env import KNOWN, env_networks
from scriptsmith_site.models import SecurityEvent
from tests.people import PASSWORD
from tests.web_client import WebClient


def test_address_is_the_peers_or_what_a_trusted_proxy_forwards() -> None:
    table = {
        "no proxy": ("192.0.2.1", "", "192.0.2.1"),
        "a client forges its own": ("192.0.2.1", "6.6.6.6", "192.0.2.1"),
        "behind a proxy": ("127.0.0.1", "192.0.2.1", "192.0.2.1"),
        "the proxy itself": ("127.0.0.1", "", "127.0.0.1"),
        "a client lies to the proxy": ("10.1.1.1", "6.6.6.6, 192.0.2.1", "192.0.2.1"),
        "behind two proxies": ("127.0.0.1", "192.0.2.1, 10.0.0.5", "192.0.2.1"),
        "junk": ("127.0.0.1", "junk", "127.0.0.1"),
        "junk from the nearest": ("127.0.0.1", "192.0.2.1, junk", "127.0.0.1"),
        "with a port": ("127.0.0.1", "192.0.2.1:55", "192.0.2.1"),
        "IPv6 with a port": ("::1", "[2001:db8::1]:55", "2001:db8::1"),
        "IPv4 within IPv6": ("::ffff:127.0.0.1", "192.0.2.1", "192.0.2.1"),
        "an unreadable peer": ("not an address", "192.0.2.1", None),
    }
    proxies = ["127.0.0.1", "10.0.0.0/8", "::1"]
    assert {
        name: got
        for name, (peer, forwarded, expected) in table.items()
        if (got := origin.client_address(peer, forwarded, trusted=proxies)) != expected
    } == {}


def test_ipv6_addresses_of_one_network_count_as_one() -> None:
    shared = {one: origin.shared_part(one) for one in ("192.0.2.1", "2001:db8:1:2:3::4", None)}
    assert list(shared.values()) == ["192.0.2.1", "2001:db8:1:2::/64", ""]


def test_log_has_client_s_address_behind_proxy_named(stranger: User, settings: Settings) -> None:
    typed = {"username": "sam", "password": PASSWORD}
    proxied = WebClient(REMOTE_ADDR="10.0.0.5", headers={"X-Forwarded-For": "192.0.2.1"})
    settings.SCRIPTSMITH_TRUSTED_PROXIES = ["10.0.0.0/8"]
    proxied.post("/login/", typed)
    assert SecurityEvent.objects.first().address == "192.0.2.1"


def test_a_proxy_that_is_not_named_is_noticed_once(
    db: None, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(origin, "_warned_of", set())
    proxied = WebClient(REMOTE_ADDR="10.0.0.5", headers={"X-Forwarded-For": "192.0.2.1"})
    with caplog.at_level(logging.WARNING, "scriptsmith_site.origin"):
        for _time in range(3):
            proxied.get("/healthz")
    assert caplog.text.count("SCRIPTSMITH_TRUSTED_PROXIES") == 1


def test_a_network_that_cannot_be_read_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCRIPTSMITH_UNDER_TEST", "10.0.0.0/8, proxy.example.org")
    with pytest.raises(ImproperlyConfigured, match="proxy.example.org"):
        env_networks("SCRIPTSMITH_UNDER_TEST", "", "help")
    KNOWN.pop("SCRIPTSMITH_UNDER_TEST", None)
