"""Tests for the addresses that an endpoint may have, in every notation."""

from __future__ import annotations

import ipaddress

import pytest

from core.errors import BadInput
from core.network.addresses import ForbiddenAddress, Zone, is_metadata_name, read_address, zone_of
from pipeline.clients.destinations import is_loopback
from pipeline.endpoints.address_rules import is_private, read_base_url
from pipeline.llm.addresses import choose_addresses

LOOPBACK, PRIVATE, PUBLIC, FORBIDDEN = Zone
ZONES = [
    ("127.0.0.1", LOOPBACK), ("127.255.255.254", LOOPBACK), ("::1", LOOPBACK),
    ("::ffff:127.0.0.1", LOOPBACK), ("::ffff:7f00:1", LOOPBACK),
    ("10.0.0.5", PRIVATE), ("172.16.0.1", PRIVATE), ("172.31.255.255", PRIVATE),
    ("192.168.1.2", PRIVATE), ("100.64.0.1", PRIVATE), ("fd12:3456::1", PRIVATE),
    ("::ffff:10.0.0.5", PRIVATE),
    ("8.8.8.8", PUBLIC), ("172.32.0.1", PUBLIC), ("100.128.0.1", PUBLIC),
    ("2606:4700::1111", PUBLIC), ("64:ff9b::808:808", PUBLIC), ("2002:808:808::", PUBLIC),
    ("::ffff:8.8.8.8", PUBLIC),
    ("169.254.169.254", FORBIDDEN), ("169.254.170.2", FORBIDDEN), ("169.254.0.1", FORBIDDEN),
    ("::ffff:169.254.169.254", FORBIDDEN), ("::ffff:a9fe:a9fe", FORBIDDEN),
    ("64:ff9b::a9fe:a9fe", FORBIDDEN), ("64:ff9b::7f00:1", FORBIDDEN),
    ("64:ff9b::a00:5", FORBIDDEN), ("64:ff9b:1::1", FORBIDDEN), ("2002:7f00:1::", FORBIDDEN),
    ("2002:a9fe:a9fe::", FORBIDDEN), ("::127.0.0.1", FORBIDDEN), ("2001::1", FORBIDDEN),
    ("fd00:ec2::254", FORBIDDEN), ("fd20:ce::254", FORBIDDEN), ("fd00:42::42", FORBIDDEN),
    ("100.100.100.200", FORBIDDEN), ("168.63.129.16", FORBIDDEN), ("192.0.0.192", FORBIDDEN),
    ("fe80::1", FORBIDDEN), ("fe80::1%eth0", FORBIDDEN), ("fec0::1", FORBIDDEN),
    ("0.0.0.0", FORBIDDEN), ("0.1.2.3", FORBIDDEN), ("::", FORBIDDEN),
    ("::ffff:0.0.0.0", FORBIDDEN), ("224.0.0.1", FORBIDDEN), ("ff02::1", FORBIDDEN),
    ("255.255.255.255", FORBIDDEN), ("240.0.0.1", FORBIDDEN), ("192.0.2.1", FORBIDDEN),
    ("198.18.0.1", FORBIDDEN), ("2001:db8::1", FORBIDDEN), ("100::1", FORBIDDEN),
]  # fmt: skip


def test_address_is_judged_by_number() -> None:
    wrong = {
        text: got
        for text, zone in ZONES
        if (got := zone_of(ipaddress.ip_address(text))) is not zone
    }
    assert not wrong
    assert str(read_address("[::ffff:127.0.0.1]")) == "127.0.0.1"
    assert read_address("localhost") is None


def test_an_endpoint_may_have_it_or_not(subtests: pytest.Subtests) -> None:
    for text, zone in [case for case in ZONES if "%" not in case[0]]:
        with subtests.test(text):
            host = f"[{text}]" if ":" in text else text
            if zone is FORBIDDEN:
                for scheme in ("http", "https"):
                    with pytest.raises(BadInput, match="This address is not allowed"):
                        read_base_url(f"{scheme}://{host}:8080")
                continue
            assert read_base_url(f"https://{host}")
            assert is_loopback(f"http://{host}") is (zone is LOOPBACK)
            assert is_private(f"http://{host}") is (zone in (LOOPBACK, PRIVATE))
            if zone is PUBLIC:
                with pytest.raises(BadInput, match="Plain http"):
                    read_base_url(f"http://{host}")


def test_number_written_in_another_way_is_no_address(subtests: pytest.Subtests) -> None:
    hosts = """2130706433 0x7f000001 0x7f.0.0.1 0177.0.0.1 017700000001 127.1 127.0.1 2852039166
        0xa9fea9fe 169.254.43518 0251.0376.0251.0376 127.0.0.1. [::ffff:127.0.0.1%25eth0]
        １２７.0.0.1 ①②⑦.0.0.1 127。0。0。1"""
    for host in hosts.split():
        with subtests.test(host), pytest.raises(BadInput, match="not a valid address"):
            read_base_url(f"http://{host}")


def test_metadata_names_of_clouds_are_refused(subtests: pytest.Subtests) -> None:
    names = """metadata.google.internal METADATA.google.internal metadata metadata.goog
        instance-data instance-data.ec2.internal a.metadata.google.internal"""
    for host in names.split():
        with subtests.test(host):
            assert is_metadata_name(host)
            with pytest.raises(BadInput, match="This address is not allowed"):
                read_base_url(f"http://{host}")
            with pytest.raises(ForbiddenAddress, match="metadata"):
                choose_addresses(host, ["10.0.0.1"], is_encrypted=True)


def test_of_what_a_name_leads_to_only_what_may_be_asked_is_connected_to() -> None:
    cases = [
        ("localhost", ["::1", "127.0.0.1"], False, ["::1", "127.0.0.1"]),
        ("localhost", ["10.0.0.1", "127.0.0.1"], True, ["127.0.0.1"]),
        ("gpu.lan", ["fe80::1", "10.0.0.5"], False, ["10.0.0.5"]),
        ("gpu.lan", ["8.8.8.8", "10.0.0.5"], False, ["10.0.0.5"]),
        ("models.example", ["8.8.8.8", "169.254.169.254"], True, ["8.8.8.8"]),
        ("models.example", ["10.0.0.5"], True, ["10.0.0.5"]),
    ]
    wrong = {
        f"{host} {found}": got
        for host, found, is_encrypted, chosen in cases
        if (got := choose_addresses(host, found, is_encrypted=is_encrypted)) != chosen
    }
    assert not wrong
