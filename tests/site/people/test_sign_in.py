"""Tests that users sign in and out, and are redirected to the page they requested."""

from __future__ import annotations

import re
from html import unescape

from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from scriptsmith_site.models import Profile
from tests.people import PASSWORD, make_person
from tests.web_client import WebClient

LOGIN = {"username": "sam", "password": PASSWORD}


def test_page_leads_to_sign_in_page_and_from_there_back(client: Client, stranger: User) -> None:
    answer = client.get("/settings/?tab=1")
    assert answer.status_code == 302
    assert answer["Location"] == "/login/?next=/settings/%3Ftab%3D1"

    page = client.get(answer["Location"])
    assert 'name="next" value="/settings/?tab=1"' in page.content.decode()
    answer = client.post("/login/", {**LOGIN, "next": "/settings/?tab=1"})
    assert answer["Location"] == "/settings/?tab=1"


def test_wrong_password_is_reported_and_the_name_stays(client: Client, stranger: User) -> None:
    for name, password in (("sam", "w0r0n0g"), ("nobody", PASSWORD)):
        answer = client.post("/login/", {"username": name, "password": password})
        text = answer.content.decode()
        assert answer.status_code == 422
        assert "Wrong name or password." in text
        assert f'value="{name}"' in text
        assert password not in text


def test_sign_in_redirects_only_to_own_pages(client: Client, stranger: User) -> None:
    User.objects.filter(pk=stranger.pk).update(is_active=False)
    assert client.post("/login/", LOGIN).status_code == 422
    User.objects.filter(pk=stranger.pk).update(is_active=True)
    answer = client.post("/login/", {**LOGIN, "next": "https://example.org/"})
    assert answer["Location"] == reverse("home")
    assert client.get("/login/?next=/settings/")["Location"] == "/settings/"
    assert client.get("/logout/").status_code == 405
    assert client.post("/logout/")["Location"] == "/login/"
    assert client.get("/settings/").status_code == 302


def test_session_holds_time_zone_and_theme(client: Client, stranger: User) -> None:
    Profile.objects.create(user=stranger, time_zone="Asia/Tokyo", theme="dark")
    client.post("/login/", LOGIN)
    assert client.session["preferences"] == ["Asia/Tokyo", "dark", {}]
    page = client.get("/settings/")
    assert 'data-theme="dark"' in page.content.decode()


def test_too_many_wrong_passwords_lock_the_person_out_with_a_page(
    client: Client, stranger: User, administrator: User, settings: Settings
) -> None:
    settings.AXES_ENABLED = True
    settings.AXES_FAILURE_LIMIT = 3
    for _try in range(2):
        assert client.post("/login/", {**LOGIN, "password": "wrong"}).status_code == 422
    answer = client.post("/login/", {**LOGIN, "password": "wrong"})
    assert answer.status_code == 429
    assert answer["Retry-After"] == "900"
    assert "Too many attempts" in answer.content.decode()
    assert client.post("/login/", LOGIN).status_code == 429, "the right password must wait as well"

    others = WebClient(REMOTE_ADDR="192.0.2.7")
    assert others.post("/login/", LOGIN).status_code == 302, "nobody locks out others from afar"


def test_each_kind_of_request_gets_its_401(client: Client, db: None) -> None:
    for send in (client.get, client.post):
        answer = send("/settings/preferences/", headers={"HX-Request": "true"})
        assert answer.status_code == 401
        assert (answer["HX-Reswap"], answer["X-Session"]) == ("none", "expired")
    program = client.post("/settings/preferences/", headers={"Accept": "application/json"})
    assert (program.status_code, program.json()["error"]["code"]) == (401, "not_signed_in")
    script = client.post("/settings/preferences/", headers={"X-Requested-With": "fetch"})
    assert script.status_code == 401 and "<html" not in script.content.decode()


def test_a_form_is_kept_and_sent_again_after_signing_in(client: Client, stranger: User) -> None:
    typed = {"display_name": "<Sam> & more\nlines", "time_zone": "Asia/Tokyo", "theme": "dark"}
    page = client.post("/settings/preferences/", {**typed, "old_password": "not to be kept"})
    assert page.status_code == 401
    text = page.content.decode()
    assert "Your session has ended. Your input is saved" in text
    kept = field(text, "kept")

    # The saved text also survives a wrong password.
    wrong = {"username": "sam", "password": "wrong", "kept": kept}
    assert field(client.post("/login/", wrong).content.decode(), "kept") == kept

    page = client.post("/login/", {**wrong, "password": PASSWORD})
    text = page.content.decode()
    assert 'action="/settings/preferences/"' in text
    again = dict(re.findall(r'<textarea hidden name="([^"]+)">\n(.*?)</textarea>', text, re.DOTALL))
    assert {name: unescape(value) for name, value in again.items()} == typed

    client.post("/settings/preferences/", typed)
    stranger.refresh_from_db()
    assert stranger.first_name == typed["display_name"]


def test_a_form_that_was_not_kept_by_us_is_not_sent_on(client: Client, stranger: User) -> None:
    answer = client.post("/login/", {"username": "sam", "password": PASSWORD, "kept": "forged"})
    assert answer.status_code == 302


def field(text: str, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', text)
    assert found, f"no field {name}"
    return unescape(found[1])


def test_name_with_other_capitals_signs_in_unless_two_names_differ_in_case(
    db: None, settings: Settings
) -> None:
    """Failed attempts are counted together for all spellings of a name."""
    mona, both, small = (make_person(name, "reviewer") for name in ("Mona", "Kim", "kim"))
    cases = {"Mona": mona, "mona": mona, "MONA": mona, "Kim": both, "kim": small, "KIM": None}
    for name, user in cases.items():
        client = WebClient()
        answer = client.post("/login/", {"username": name, "password": PASSWORD})
        assert answer.status_code == (302 if user else 422), name
        assert client.session.get("_auth_user_id") == (str(user.pk) if user else None), name
    settings.AXES_ENABLED, settings.AXES_FAILURE_LIMIT = True, 3
    for name in ("mona", "MONA", "mOna"):
        answer = WebClient().post("/login/", {"username": name, "password": "w0r0n0g"})
    assert answer.status_code == 429, "three guesses are three, not one each"
