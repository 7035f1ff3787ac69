"""Every answer has an id that stands in the logs as well."""

from __future__ import annotations

import re

import pytest
from auditlog.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client


def test_an_id_is_made(client: Client) -> None:
    first, second = (client.get("/healthz")["X-Request-ID"] for _ in range(2))
    assert re.fullmatch(r"[0-9a-f]{16}", first)
    assert first != second


@pytest.mark.parametrize(
    ("offered", "taken"),
    [
        pytest.param("abc-123.DEF_456", True, id="sane"),
        pytest.param("short", False, id="too short"),
        pytest.param("x" * 65, False, id="too long"),
        pytest.param("with space and more", False, id="with a space"),
        pytest.param('{"evil": "json..."}', False, id="JSON"),
        pytest.param("", False, id="empty"),
    ],
)
def test_a_caller_s_id_is_taken_where_it_is_sane(client: Client, offered: str, taken: bool) -> None:
    given = client.get("/healthz", headers={"X-Request-ID": offered})["X-Request-ID"]
    assert (given == offered) is taken


@pytest.mark.parametrize("said", ["6.6.6.6", "no address"])
def test_the_audit_log_notes_the_id_and_not_what_a_client_says_of_itself(
    client: Client, administrator: User, reviewer: User, said: str
) -> None:
    client.force_login(administrator)
    headers = {"X-Forwarded-For": said, "X-Forwarded-Port": "no", "X-Correlation-ID": "x" * 300}
    answer = client.post(f"/users/{reviewer.pk}/roles/", {"roles": ["curator"]}, headers=headers)
    assert answer.status_code == 302
    record = LogEntry.objects.get()
    assert record.cid == answer["X-Request-ID"]
    assert record.remote_addr == "127.0.0.1"
