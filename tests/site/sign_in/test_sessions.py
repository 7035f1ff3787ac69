"""Tests that users see and end their sessions, and that sessions also end when the password changes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from auditlog.models import LogEntry
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session as FormerSession
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from scriptsmith_site.models import SecurityEvent, Session
from scriptsmith_site.people.sign_in import sessions
from scriptsmith_site.people.sign_in.own_sessions import mark_of
from tests.page_forms import forms_in
from tests.people import PASSWORD
from tests.web_client import WebClient

pytestmark = pytest.mark.django_db


def signed_in(name: str, agent: str, address: str = "192.0.2.7") -> WebClient:
    client = WebClient(REMOTE_ADDR=address, headers={"user-agent": agent})
    assert client.post("/login/", {"username": name, "password": PASSWORD}).status_code == 302
    return client


def is_open(client: Client) -> bool:
    return client.get("/settings/").status_code == 200


def test_the_page_tells_sessions_apart_and_ends_one(reviewer: User, stranger: User) -> None:
    laptop = signed_in("rita", "Laptop <b>1</b>")
    phone = signed_in("rita", "Phone", "2001:db8::7")
    signed_in("sam", "Somebody else's")
    html = laptop.get("/settings/sessions/").text
    assert "Laptop &lt;b&gt;1" in html and "Phone" in html and "2001:db8::7" in html
    assert "password" in html and "Somebody else" not in html
    keys = Session.objects.values_list("session_key", flat=True)
    assert not [key for key in keys if key in html], "whoever reads a key is let in by it"

    (form,) = [one for one in forms_in(html) if one.has_button("End session")]
    form.send(laptop, page="/settings/sessions/", follow=True)
    assert is_open(laptop) and not is_open(phone)
    line = SecurityEvent.objects.get(kind="session-ended")
    assert (line.user, line.detail) == (reviewer, "Phone")
    assert LogEntry.objects.filter(additional_data__event="session ended").exists()
    again = form.send(laptop, page="/settings/sessions/", follow=True)
    assert again.status_code == 409 and "has already ended" in again.text


def test_nobody_ends_the_session_of_another(reviewer: User, stranger: User) -> None:
    mine, theirs = signed_in("rita", "one"), signed_in("sam", "two")
    session = Session.objects.get(user=stranger)
    assert mine.post(f"/settings/sessions/{mark_of(session)}/end/").status_code == 409
    assert is_open(theirs)


def test_other_sessions_end_by_signing_out_or_all_at_once(reviewer: User, stranger: User) -> None:
    here, there, elsewhere, out = (signed_in("rita", agent) for agent in ("a", "b", "c", "d"))
    other = signed_in("sam", "e")
    out.post("/logout/")
    assert Session.objects.filter(user=reviewer).count() == 3
    here.get("/settings/sessions/")
    answer = here.post("/settings/sessions/end-others/", follow=True)
    assert "2 other sessions ended" in answer.text
    assert is_open(here) and is_open(other)
    assert not is_open(there) and not is_open(elsewhere)


def test_last_seen_is_known_to_five_minutes_and_costs_nothing_in_between(reviewer: User) -> None:
    client = signed_in("rita", "a")
    with CaptureQueriesContext(connection) as asked:
        client.get("/settings/keys/")
    assert not [one for one in asked if "UPDATE" in str(one["sql"])]
    long_ago = timezone.now() - timedelta(hours=1)
    expiry = Session.objects.get().expire_date
    Session.objects.update(last_seen_at=long_ago)
    client.get("/settings/keys/")
    session = Session.objects.get()
    assert session.last_seen_at > long_ago
    assert session.expire_date == expiry, "it ends when it was to end, however busy"


def test_the_list_costs_the_same_whatever_its_length(
    reviewer: User, django_assert_num_queries: Callable[[int], object]
) -> None:
    client = signed_in("rita", "a")
    client.get("/settings/sessions/")
    with CaptureQueriesContext(connection) as few:
        client.get("/settings/sessions/")
    for number in range(20):
        WebClient(headers={"user-agent": f"browser {number}"}).force_login(reviewer)
    with django_assert_num_queries(len(few)):
        assert client.get("/settings/sessions/").text.count("End session") == 20


def test_rows_of_sessions_that_are_over_are_deleted(reviewer: User) -> None:
    signed_in("rita", "a")
    Session.objects.update(expire_date=timezone.now() - timedelta(minutes=1))
    signed_in("rita", "b")
    FormerSession.objects.create(
        session_key="of an earlier release", expire_date=timezone.now() + timedelta(days=1)
    )
    sessions.delete_old()
    assert Session.objects.get().agent == "b"
    assert not FormerSession.objects.exists(), "nothing reads them"
