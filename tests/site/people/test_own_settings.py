"""A person's own settings: name, time zone, theme, password."""

from __future__ import annotations

import pytest
from auditlog.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client

from scriptsmith_site.models import Profile
from scriptsmith_site.people.sign_in.tokens import make_token
from tests.people import PASSWORD

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


def test_invalid_preferences_change_nothing(sam: Client, stranger: User) -> None:
    for field, value in (
        ("time_zone", "Atlantis/Capital"),
        ("time_zone", "../../etc/passwd"),
        ("theme", "pink"),
        ("display_name", "x" * 151),
    ):
        answer = sam.post("/settings/preferences/", {**GOOD, field: value})
        assert answer.status_code == 422, value
        assert f'id="id_{field}_error"' in answer.content.decode(), value
    assert not Profile.objects.filter(user=stranger).exists()
    stranger.refresh_from_db()
    assert stranger.first_name == "Sam"


def test_invalid_password_change_changes_nothing(sam: Client, stranger: User) -> None:
    token = make_token(stranger, name="bot", scopes=["read"], days=None, by=stranger).token
    for current, new, field in (
        ("wrong", NEW_PASSWORD, "current_password"),
        (PASSWORD, "short", "new_password"),
        (PASSWORD, "1234567890123", "new_password"),
        (PASSWORD, "", "new_password"),
    ):
        typed = {"current_password": current, "new_password": new}
        answer = sam.post("/settings/password/", typed)
        assert answer.status_code == 422, typed
        assert f'id="id_{field}_error"' in answer.content.decode(), typed
    stranger.refresh_from_db()
    token.refresh_from_db()
    assert stranger.check_password(PASSWORD) and token.is_live


def test_a_get_changes_nothing(sam: Client) -> None:
    assert sam.get("/settings/preferences/").status_code == 405
