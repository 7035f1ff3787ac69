"""Whose address counts: the peer's, and behind a trusted proxy what it says of its own peer."""

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

PROXIES = ["127.0.0.1", "10.0.0.0/8", "::1"]


@pytest.mark.parametrize(
    ("peer", "forwarded", "expected"),
    [
        pytest.param("192.0.2.1", "", "192.0.2.1", id="no proxy"),
        pytest.param("192.0.2.1", "6.6.6.6", "192.0.2.1", id="a client says so of itself"),
        pytest.param("127.0.0.1", "192.0.2.1", "192.0.2.1", id="behind a proxy"),
        pytest.param("127.0.0.1", "", "127.0.0.1", id="the proxy itself"),
        pytest.param(
            "10.1.1.1", "6.6.6.6, 192.0.2.1", "192.0.2.1", id="a client lies to the proxy"
        ),
        pytest.param("127.0.0.1", "192.0.2.1, 10.0.0.5", "192.0.2.1", id="behind two proxies"),
        pytest.param("127.0.0.1", "junk", "127.0.0.1", id="junk"),
        pytest.param("127.0.0.1", "192.0.2.1, junk", "127.0.0.1", id="junk from the nearest"),
        pytest.param("127.0.0.1", "192.0.2.1:55", "192.0.2.1", id="with a port"),
        pytest.param("::1", "[2001:db8::1]:55", "2001:db8::1", id="IPv6 with a port"),
        pytest.param("::ffff:127.0.0.1", "192.0.2.1", "192.0.2.1", id="IPv4 within IPv6"),
        pytest.param("not an address", "192.0.2.1", None, id="a peer that can't be read"),
    ],
)
def test_whose_address_counts(peer: str, forwarded: str, expected: str | None) -> None:
    assert origin.client_address(peer, forwarded, trusted=PROXIES) == expected


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        pytest.param("192.0.2.1", "192.0.2.1", id="IPv4"),
        pytest.param("2001:db8:1:2:3::4", "2001:db8:1:2::/64", id="IPv6"),
        pytest.param(None, "", id="none"),
    ],
)
def test_what_is_counted_as_one_address(address: str | None, expected: str) -> None:
    assert origin.shared_part(address) == expected


def test_the_log_has_the_client_s_address_behind_a_proxy_that_is_named(
    stranger: User, settings: Settings
) -> None:
    typed = {"username": "sam", "password": PASSWORD}
    proxied = WebClient(REMOTE_ADDR="10.0.0.5", headers={"X-Forwarded-For": "192.0.2.1"})
    settings.SCRIPTSMITH_TRUSTED_PROXIES = ["10.0.0.0/8"]
    proxied.post("/login/", typed)
    assert SecurityEvent.objects.first().address == "192.0.2.1"  # type: ignore[union-attr]


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
