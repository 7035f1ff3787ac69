"""Tests that every response has an ID that also appears in the logs."""

from __future__ import annotations

import re

from auditlog.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client


def test_an_id_is_made(client: Client) -> None:
    first, second = (client.get("/healthz")["X-Request-ID"] for _ in range(2))
    assert re.fullmatch(r"[0-9a-f]{16}", first)
    assert first != second


def test_request_id_of_the_caller_is_used_if_it_is_well_formed(client: Client) -> None:
    offers = {
        "abc-123.DEF_456": True,
        "short": False,
        "x" * 65: False,
        "with space and more": False,
        '{"evil": "json..."}': False,
        "": False,
    }
    ids = {
        one: client.get("/healthz", headers={"X-Request-ID": one})["X-Request-ID"] for one in offers
    }
    assert {one: ids[one] == one for one in offers} == offers


def test_audit_log_notes_the_id_and_not_the_address_that_a_client_claims(
    client: Client, administrator: User, reviewer: User
) -> None:
    client.force_login(administrator)
    for claim, role in (("6.6.6.6", "curator"), ("no address", "manager")):
        headers = {
            "X-Forwarded-For": claim,
            "X-Forwarded-Port": "no",
            "X-Correlation-ID": "x" * 300,
        }
        answer = client.post(f"/users/{reviewer.pk}/roles/", {"roles": [role]}, headers=headers)
        assert answer.status_code == 302
        record = LogEntry.objects.latest("pk")
        assert record.cid == answer["X-Request-ID"]
        assert record.remote_addr == "127.0.0.1"
