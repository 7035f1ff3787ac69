"""Tests that events are sent only to public addresses, and that internal addresses are rejected in every notation."""

from __future__ import annotations

import socket

import pytest
from django.utils import timezone
from pytest_django import Settings

from core.errors import BadInput
from core.network.addresses import ForbiddenAddress
from scriptsmith_site.integrations.outbox.services import make_signing_secret
from scriptsmith_site.integrations.outbox.transport.addresses import choose_addresses, read_url
from scriptsmith_site.integrations.outbox.transport.sending import send_signed

REFUSED = [
    # Unusual notations of numbers. The table of network zones is in tests/pipeline/llm/test_addresses.py.
    "http://2130706433/", "http://0x7f000001/", "http://0x7f.0.0.1/", "http://0177.0.0.1/",
    "http://127.1/", "http://2852039166/", "http://0xa9fea9fe/", "http://127.0.0.1./",
    "http://[::ffff:127.0.0.1%25eth0]/", "http://１２７.0.0.1/", "http://①②⑦.0.0.1/",
    "http://127。0。0。1/",
    "", "hooks", "ftp://hooks.example.org/", "file:///etc/passwd", "gopher://127.0.0.1:6379/_",
    "javascript:alert(1)", "https://", "https://user:password@hooks.example.org/",
    "https://hooks.example.org/#part", "https://hooks.example.org:22/", "https://hooks.example.org:0/",
    "https://hooks.example.org:99999/", "https://hooks.example.org/\r\nx-evil: 1",
    "https://hooks.example.org\\@127.0.0.1/", f"https://hooks.example.org/{'a' * 500}",
    "http://metadata.google.internal/", "https://metadata.goog/computeMetadata/v1/",
    "http://instance-data/latest/",
]  # fmt: skip
INSIDE = ["127.0.0.1", "10.0.0.5", "::1", "fd12:3456::1", "::ffff:10.0.0.5"]
FORBIDDEN = ["169.254.169.254", "64:ff9b::a9fe:a9fe", "100.100.100.200", "fe80::1", "0.0.0.0", "::"]


def _is_accepted(url: str) -> bool:
    try:
        return bool(read_url(url))
    except BadInput:
        return False


def test_addresses_obey_their_zone() -> None:
    for text in (*INSIDE, *FORBIDDEN):
        host = f"[{text}]" if ":" in text else text
        assert not _is_accepted(f"http://{host}/in"), text
        assert not _is_accepted(f"https://{host}/in"), text
        with pytest.raises(ForbiddenAddress):
            choose_addresses("a.example", [text], is_encrypted=True)
    for text, host in (("8.8.8.8", "8.8.8.8"), ("2606:4700::1111", "[2606:4700::1111]")):
        assert not _is_accepted(f"http://{host}/in"), "public ones want encryption"
        assert _is_accepted(f"https://{host}/in")
        assert choose_addresses("a.example", [text], is_encrypted=True) == [text]


def test_odd_and_forbidden_addresses_are_refused(settings: Settings) -> None:
    assert [url for url in REFUSED if _is_accepted(url)] == []
    for network in ("0.0.0.0/0", "::/0", "169.254.0.0/16"):
        settings.SCRIPTSMITH_OUT_NETWORKS = [network]
        for text in FORBIDDEN:
            with pytest.raises(ForbiddenAddress):
                choose_addresses("a.example", [text], is_encrypted=True)


def test_a_private_network_is_open_where_it_is_named_and_nowhere_else(settings: Settings) -> None:
    settings.SCRIPTSMITH_OUT_NETWORKS = ["10.1.0.0/16"]
    assert read_url("http://10.1.2.3:8080/in")
    with pytest.raises(BadInput, match="SCRIPTSMITH_OUT_NETWORKS"):
        read_url("http://10.2.2.3:8080/in")
    found = ["10.2.0.1", "10.1.0.1", "169.254.169.254"]
    assert choose_addresses("hooks.lan", found, is_encrypted=False) == ["10.1.0.1"]


def test_a_name_that_leads_inside_is_not_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """The address is checked after DNS resolution and used for the same connection. No proxy is used."""
    asked = []

    def resolve(host: str, port: int, **_given: object) -> list[object]:
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    from_url = "https://hooks.example.org/in"
    given = {"uid": "evt_1", "secrets": [make_signing_secret()]}
    answer = send_signed(from_url, "{}", **given, now=timezone.now())
    assert "resolves to 127.0.0.1" in answer.error and answer.status is None
    assert asked == ["hooks.example.org"]
