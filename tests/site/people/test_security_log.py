"""Tests for the security log: its events, the users who may see it, and the escaping of hostile input."""

from __future__ import annotations

import csv
import io
import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import InternalError, transaction
from django.db.utils import ProgrammingError
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from scriptsmith_site.models import SecurityEvent
from scriptsmith_site.people import services
from scriptsmith_site.people.erasure import anonymise
from scriptsmith_site.people.security_log import Kind, note, unknown_name_mark
from scriptsmith_site.people.sign_in.tokens import make_token
from scriptsmith_site.tasks import sweep_security_log
from tests import people
from tests.people import PASSWORD
from tests.site.browsing import Person
from tests.web_client import WebClient

admin = people.as_administrator

NEW = "another good passphrase"
CHROMIUM = "Mozilla/5.0 (X11; Linux x86_64) Chromium"


def kinds() -> list[str]:
    return list(SecurityEvent.objects.order_by("pk").values_list("kind", flat=True))


def read_csv(answer: object) -> list[dict[str, str]]:
    text = b"".join(answer.streaming_content).decode()
    return list(csv.DictReader(io.StringIO(text)))


def test_a_sitting_is_in_it_with_address_program_and_request(stranger: User) -> None:
    sam = Person("192.0.2.7", HTTP_USER_AGENT=CHROMIUM)
    sam.sign_in("sam", "wrong")
    answer = sam.sign_in("sam", PASSWORD)
    sam.send("/settings/", "/logout/")
    assert kinds() == ["sign-in-failed", "signed-in", "signed-out"]
    failed, came, _left = SecurityEvent.objects.order_by("pk")
    assert (came.user, came.by, came.address, came.agent) == (
        stranger,
        stranger,
        "192.0.2.7",
        CHROMIUM,
    )
    assert came.request_id == answer["X-Request-ID"]
    assert (failed.user, failed.by) == (stranger, None), "nobody knows who tried"


def test_lockout_is_logged_once(stranger: User, settings: Settings) -> None:
    settings.AXES_ENABLED = True
    for _try in range(12):
        Person("192.0.2.7").sign_in("sam", "wrong")
    assert kinds() == ["sign-in-failed"] * 8 + ["locked-out"]
    lockout = SecurityEvent.objects.get(kind="locked-out")
    assert (lockout.user, lockout.address) == (stranger, "192.0.2.7")


@pytest.mark.slow
def test_what_becomes_of_an_account_is_in_it(administrator: User) -> None:
    adam = Person("192.0.2.1")
    adam.sign_in("adam", PASSWORD)
    adam.send("/users/new/", username="nina", roles=["reviewer"])
    nina = User.objects.get(username="nina")
    page = f"/users/{nina.pk}/"
    made = adam.send(page, f"{page}password-link/").content.decode()
    link = re.search(r"http://testserver(/set-password/[^\"]+)", made)
    assert link
    own = Person("192.0.2.2")
    own.send(link[1], password=NEW, repeated_password=NEW)
    own.sign_in("nina", NEW)
    shown = own.send("/settings/", "/settings/tokens/", name="bot", scopes=["read"])
    secret = re.search(r'value="(sst_[\w-]+)"', shown.content.decode())
    assert secret
    for _use in range(3):
        WebClient(REMOTE_ADDR="192.0.2.3").get(
            "/api/v1/runs/", headers={"Authorization": f"Bearer {secret[1]}"}
        )
    own.send("/settings/", "/settings/password/", current_password="guess", new_password="x" * 12)
    own.send("/settings/", "/settings/password/", current_password=NEW, new_password=PASSWORD)
    adam.send(page, f"{page}roles/", roles=["curator"])
    adam.send(page, f"{page}reset/")
    adam.send(page, f"{page}deactivate/")
    adam.send(page, f"{page}reactivate/")
    adam.send(page, f"{page}deactivate/")
    adam.send(page, f"{page}anonymise/", confirmed_name="nina")

    about_her = SecurityEvent.objects.filter(user=nina).order_by("pk")
    assert [event.kind for event in about_her] == [
        "account-made",
        "role-given",
        "link-made",
        "link-used",
        "signed-in",
        "token-made",
        "token-new-address",
        "present-password-wrong",
        "token-revoked",
        "password-changed",
        "role-given",
        "role-taken",
        "link-made",
        "password-reset",
        "deactivated",
        "reactivated",
        "deactivated",
        "anonymised",
    ]
    assert {event.by for event in about_her if event.kind == "role-given"} == {administrator}
    assert secret[1] not in str(list(SecurityEvent.objects.values()))
    assert link[1].split("/")[2] not in str(list(SecurityEvent.objects.values()))


def test_a_name_that_no_account_has_is_kept_as_a_mark(admin: Client, stranger: User) -> None:
    typed = "Tr0ub4dor&3 is my password"
    for name in (typed, typed, "sam"):
        Person().sign_in(name, "x")
    assert typed not in str(list(SecurityEvent.objects.values()))
    mark = unknown_name_mark(typed)
    assert len(mark) == 4
    assert SecurityEvent.objects.filter(unknown_name=mark).count() == 2
    assert typed not in admin.get("/audit/security/").content.decode()
    # Both the typed name and its hash find the rows.
    for wanted in (typed, mark):
        rows = read_csv(admin.get("/audit/security/export/", {"person": wanted}))
        assert [row["unknown name"] for row in rows] == [mark, mark]


def test_database_refuses_changes(stranger: User) -> None:
    note(Kind.SIGNED_IN, user=stranger, by=stranger)
    for change in (lambda rows: rows.update(detail="x"), lambda rows: rows._raw_delete("default")):
        with (
            pytest.raises((InternalError, ProgrammingError), match="append-only"),
            transaction.atomic(),
        ):
            change(SecurityEvent.objects.all())


def test_what_is_older_than_the_setting_is_swept(stranger: User, settings: Settings) -> None:
    settings.SCRIPTSMITH_SECURITY_LOG_DAYS = 30
    for days in (29, 31, 400):
        at = timezone.now() - timedelta(days=days)
        SecurityEvent.objects.create(kind=Kind.SIGNED_IN, user=stranger, at=at)
    sweep_security_log()
    (left,) = SecurityEvent.objects.all()
    assert timezone.now() - left.at < timedelta(days=30)


def test_log_is_filtered(admin: Client, administrator: User, reviewer: User, curator: User) -> None:
    now = timezone.now()
    make = SecurityEvent.objects.create
    make(kind="sign-in-failed", user=reviewer, address="192.0.2.7")
    make(kind="signed-in", user=curator, by=curator, address="192.0.2.200")
    make(kind="role-given", user=curator, by=administrator, address="2001:db8::5")
    make(kind="signed-in", user=reviewer, by=reviewer, at=now - timedelta(days=2))
    today, yesterday = now.date(), now.date() - timedelta(days=1)
    expected = {
        "": 4,
        "person=rita": 2,
        "person=carla": 2,
        "kind=sign-in-failed": 1,
        "address=192.0.2.7": 1,
        "address=192.0.2.0/24": 2,
        "address=2001:db8::/32": 1,
        f"since={today}": 3,
        f"until={yesterday}": 1,
        f"since={yesterday}&until={today}&person=rita": 1,
        "since=0001-01-01&until=9999-12-31": 4,
    }
    # The administrator who reads the log has also signed in.
    found = {
        query: sum(
            row["person"] != "adam"
            for row in read_csv(admin.get(f"/audit/security/export/?{query}"))
        )
        for query in expected
    }
    assert found == expected
    assert {admin.get(f"/audit/security/?{query}").status_code for query in expected} == {200}


def test_unreadable_filter_is_refused_at_its_field(admin: Client) -> None:
    for query in ("address=here", "kind=x", "since=soon"):
        for page in ("/audit/security/", "/audit/security/export/"):
            answer = admin.get(f"{page}?{query}")
            assert answer.status_code == 422, query
            assert "field-error" in answer.content.decode(), query


def test_it_is_paged_in_a_fixed_number_of_queries(
    admin: Client, reviewer: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for _number in range(60):
        note(Kind.SIGN_IN_FAILED, user=reviewer)
    admin.get("/audit/security/")
    with django_assert_num_queries(6):
        first = admin.get("/audit/security/").context["page"]
    assert len(first.rows) == 50
    second = admin.get(f"/audit/security/{first.older}").context["page"]
    assert second.rows[0].pk == first.rows[-1].pk - 1


def test_hostile_text_is_shown_and_harmless(admin: Client, stranger: User) -> None:
    agent = "=HYPERLINK(1)<script>alert(1)</script>\u202e" + "x" * 500
    Person(HTTP_USER_AGENT=agent).sign_in("sam", "x")
    event = SecurityEvent.objects.get(kind="sign-in-failed")
    assert len(event.agent) == 120
    assert event.agent.isprintable()
    page = admin.get("/audit/security/").content.decode()
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert" not in page
    (row,) = read_csv(admin.get("/audit/security/export/?kind=sign-in-failed"))
    assert row["program"].startswith("'=HYPERLINK(1)")


def test_others_see_only_their_own(curator: User, reviewer: User, administrator: User) -> None:
    Person("192.0.2.9").sign_in("carla", "wrong")
    Person("192.0.2.10").sign_in("rita", "wrong")
    carla = Person("192.0.2.11")
    carla.sign_in("carla", PASSWORD)
    for page in ("/audit/security/", "/audit/security/export/"):
        assert carla.client.get(page).status_code == 403
    for page in ("/settings/", "/settings/security/"):
        text = carla.client.get(page).content.decode()
        assert "sign-in failed" in text
        assert "192.0.2.9" in text
        assert "192.0.2.10" not in text


def test_audit_export_has_each_once(admin: Client, administrator: User, stranger: User) -> None:
    Person("192.0.2.8").sign_in("sam", PASSWORD)
    Person("192.0.2.7").sign_in("sam", "wrong")
    services.change_roles(stranger, roles=["curator"], by=administrator)
    rows = read_csv(admin.get("/audit/export/"))
    events = [(row["event"], row["kind"], row["object"]) for row in rows]
    assert events == [
        ("roles changed", "user", "sam"),
        ("sign-in failed", "security", "sam"),
        ("signed in", "security", "sam"),
    ]
    assert rows[1]["address"] == "192.0.2.7"
    (row,) = read_csv(admin.get("/audit/export/?event=sign-in+failed"))
    assert row["object"] == "sam"
    assert read_csv(admin.get("/audit/export/?person=sam&event=signed+in"))


def test_an_anonymised_person_s_addresses_go_and_the_lines_stay(
    admin: Client, administrator: User, reviewer: User, curator: User
) -> None:
    rita = Person("192.0.2.50", HTTP_USER_AGENT=CHROMIUM)
    rita.sign_in("rita", "wrong")
    rita.sign_in("rita", PASSWORD)
    make_token(reviewer, name="bot", scopes=["read"], days=None, by=reviewer)
    lines = SecurityEvent.objects.filter(user=reviewer).count()
    services.deactivate(reviewer, by=administrator)
    anonymise(reviewer, confirmed_name="rita", by=administrator)
    assert SecurityEvent.objects.filter(user=reviewer).count() == lines + 3
    everything = str(list(SecurityEvent.objects.values()))
    assert "192.0.2.50" not in everything
    assert CHROMIUM not in everything
    assert "rita" not in admin.get("/audit/security/").content.decode()
