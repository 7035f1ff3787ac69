"""Where events may be sent: everything that leads inside is refused, however it is written and whatever a name says."""

from __future__ import annotations

import socket

import pytest
from django.utils import timezone
from pytest_django import Settings

from core.errors import BadInput
from core.network.addresses import ForbiddenAddress, Zone
from scriptsmith_site.integrations.outbox.services import make_signing_secret
from scriptsmith_site.integrations.outbox.transport.addresses import choose_addresses, read_url
from scriptsmith_site.integrations.outbox.transport.sending import send_signed
from tests.pipeline.llm.test_addresses import ZONES

WRITTEN_OTHERWISE = [
    "http://2130706433/", "http://0x7f000001/", "http://0x7f.0.0.1/", "http://0177.0.0.1/",
    "http://127.1/", "http://2852039166/", "http://0xa9fea9fe/", "http://127.0.0.1./",
    "http://[::ffff:127.0.0.1%25eth0]/", "http://１２７.0.0.1/", "http://①②⑦.0.0.1/",
    "http://127。0。0。1/",
]  # fmt: skip
NO_ADDRESSES = [
    "", "hooks", "ftp://hooks.example.org/", "file:///etc/passwd", "gopher://127.0.0.1:6379/_",
    "javascript:alert(1)", "https://", "https://user:password@hooks.example.org/",
    "https://hooks.example.org/#part", "https://hooks.example.org:22/", "https://hooks.example.org:0/",
    "https://hooks.example.org:99999/", "https://hooks.example.org/\r\nx-evil: 1",
    "https://hooks.example.org\\@127.0.0.1/", f"https://hooks.example.org/{'a' * 500}",
    "http://metadata.google.internal/", "https://metadata.goog/computeMetadata/v1/",
    "http://instance-data/latest/",
]  # fmt: skip


def test_there_are_enough_of_them() -> None:
    inside = [text for text, zone in ZONES if zone is not Zone.PUBLIC]
    assert len(inside) + len(WRITTEN_OTHERWISE) + len(NO_ADDRESSES) >= 60


@pytest.mark.parametrize(("text", "zone"), ZONES)
def test_an_address_is_judged_by_number(text: str, zone: Zone) -> None:
    host = f"[{text}]" if ":" in text else text
    with pytest.raises(BadInput):
        read_url(f"http://{host}/in")  # public ones want encryption
    if zone is Zone.PUBLIC:
        assert read_url(f"https://{host}/in")
        assert choose_addresses("a.example", [text], is_encrypted=True) == [text]
        return
    with pytest.raises(BadInput):
        read_url(f"https://{host}/in")
    with pytest.raises(ForbiddenAddress):
        choose_addresses("a.example", [text], is_encrypted=True)


@pytest.mark.parametrize("url", [*WRITTEN_OTHERWISE, *NO_ADDRESSES])
def test_what_is_written_otherwise_is_refused(url: str) -> None:
    with pytest.raises(BadInput):
        read_url(url)


@pytest.mark.parametrize("network", ["0.0.0.0/0", "::/0", "169.254.0.0/16"])
def test_no_setting_opens_what_is_forbidden(network: str, settings: Settings) -> None:
    settings.SCRIPTSMITH_OUT_NETWORKS = [network]
    for text, zone in ZONES:
        if zone is Zone.FORBIDDEN:
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
    """Judged after it is resolved, at the connection that is used; and nobody's proxy is asked."""
    asked = []

    def resolve(host: str, port: int, **_given: object) -> list[object]:
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    from_url = "https://hooks.example.org/in"
    given = {"uid": "evt_1", "secrets": [make_signing_secret()]}
    answer = send_signed(from_url, "{}", **given, now=timezone.now())
    assert "leads to 127.0.0.1" in answer.error and answer.status is None
    assert asked == ["hooks.example.org"]
