"""A session that has ended loses nothing that was typed."""

from __future__ import annotations

import re
from html import unescape

from django.contrib.auth.models import User
from django.test import Client

from tests.people import PASSWORD

HTMX = {"HX-Request": "true"}


def test_an_htmx_request_leaves_the_page_alone_and_says_why(client: Client, db: None) -> None:
    for send in (client.get, client.post):
        answer = send("/settings/preferences/", headers=HTMX)
        assert answer.status_code == 401
        assert answer["HX-Reswap"] == "none"
        assert answer["X-Session"] == "expired"


def test_a_program_gets_json(client: Client, db: None) -> None:
    answer = client.post("/settings/preferences/", headers={"Accept": "application/json"})
    assert answer.status_code == 401
    assert answer.json()["error"]["code"] == "not_signed_in"


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


def test_a_script_of_the_page_gets_no_page(client: Client, db: None) -> None:
    answer = client.post("/settings/preferences/", headers={"X-Requested-With": "fetch"})
    assert answer.status_code == 401
    assert "<html" not in answer.content.decode()


def test_a_form_that_was_not_kept_by_us_is_not_sent_on(client: Client, stranger: User) -> None:
    answer = client.post("/login/", {"username": "sam", "password": PASSWORD, "kept": "forged"})
    assert answer.status_code == 302


def field(text: str, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', text)
    assert found, f"no field {name}"
    return unescape(found[1])
