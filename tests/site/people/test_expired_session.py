"""A session that has ended loses nothing that was typed."""

from __future__ import annotations

import re
from html import unescape

from django.contrib.auth.models import User
from django.test import Client

from tests.people import PASSWORD


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
    assert "Your session has ended. What you sent is kept" in text
    kept = field(text, "kept")

    # A wrong password keeps it as well.
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
