"""A person's own settings: name, time zone, theme, password."""

from __future__ import annotations

import pytest
from auditlog.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client

from scriptsmith_site.models import Profile
from tests.first_cases import first_cases
from tests.people import PASSWORD
from tests.web_client import WebClient

GOOD = {"display_name": "Sam Smith", "time_zone": "Europe/Berlin", "theme": "light"}
NEW_PASSWORD = "another good passphrase"


@pytest.fixture
def sam(client: Client, stranger: User) -> Client:
    client.post("/login/", {"username": "sam", "password": PASSWORD})
    return client


def test_preferences_hold_from_the_next_page_on(sam: Client, stranger: User) -> None:
    assert sam.post("/settings/preferences/", GOOD)["Location"] == "/settings/"
    stranger.refresh_from_db()
    profile = Profile.objects.get(user=stranger)
    assert (stranger.first_name, profile.time_zone, profile.theme) == tuple(GOOD.values())
    assert 'data-theme="light"' in sam.get("/settings/").content.decode()
    assert LogEntry.objects.get().changes == {"first_name": ["Sam", "Sam Smith"]}


@pytest.mark.parametrize(
    ("field", "value"),
    first_cases(
        2,
        [
            pytest.param("time_zone", "Atlantis/Capital", id="no such time zone"),
            pytest.param("time_zone", "../../etc/passwd", id="a path for a time zone"),
            pytest.param("theme", "pink", id="no such theme"),
            pytest.param("display_name", "x" * 151, id="name too long"),
        ],
    ),
)
def test_bad_preferences_change_nothing_and_what_was_typed_stays(
    sam: Client, stranger: User, field: str, value: str
) -> None:
    answer = sam.post("/settings/preferences/", {**GOOD, field: value})
    assert answer.status_code == 422
    assert f'id="id_{field}_error"' in answer.content.decode()
    assert not Profile.objects.filter(user=stranger).exists()
    stranger.refresh_from_db()
    assert stranger.first_name == "Sam"


def test_a_new_password_ends_the_other_sessions_and_not_this_one(
    sam: Client, stranger: User
) -> None:
    elsewhere = WebClient()
    elsewhere.force_login(stranger)
    answer = sam.post(
        "/settings/password/", {"current_password": PASSWORD, "new_password": NEW_PASSWORD}
    )
    assert answer["Location"] == "/settings/"
    assert sam.get("/settings/").status_code == 200
    assert elsewhere.get("/settings/").status_code == 302
    stranger.refresh_from_db()
    assert stranger.check_password(NEW_PASSWORD)
    assert LogEntry.objects.get().additional_data == {"event": "password changed"}


@pytest.mark.parametrize(
    ("typed", "field"),
    first_cases(
        2,
        [
            pytest.param(
                {"current_password": "wrong", "new_password": NEW_PASSWORD},
                "current_password",
                id="wrong present one",
            ),
            pytest.param(
                {"current_password": PASSWORD, "new_password": "short"},
                "new_password",
                id="too short",
            ),
            pytest.param(
                {"current_password": PASSWORD, "new_password": "1234567890123"},
                "new_password",
                id="only digits",
            ),
            pytest.param(
                {"current_password": PASSWORD, "new_password": ""}, "new_password", id="empty"
            ),
        ],
    ),
)
def test_a_bad_change_of_password_changes_nothing(
    sam: Client, stranger: User, typed: dict[str, str], field: str
) -> None:
    answer = sam.post("/settings/password/", typed)
    assert answer.status_code == 422
    assert f'id="id_{field}_error"' in answer.content.decode()
    stranger.refresh_from_db()
    assert stranger.check_password(PASSWORD)


@pytest.mark.parametrize("page", ["preferences", "password", "tokens"])
def test_changes_are_posted_by_who_is_signed_in(client: Client, db: None, page: str) -> None:
    assert client.get(f"/settings/{page}/").status_code == 302
    assert client.post(f"/settings/{page}/").status_code == 401


def test_a_get_changes_nothing(sam: Client) -> None:
    assert sam.get("/settings/preferences/").status_code == 405
