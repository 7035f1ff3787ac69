"""Tests that a form with an invalid CSRF token returns a page that explains the error and keeps the typed text."""

from __future__ import annotations

from itertools import product

import pytest
from django.conf import settings
from django.contrib.auth.models import User

from tests.page_forms import TOKEN, forms_in
from tests.people import PASSWORD
from tests.web_client import WebClient

ADDRESS = "/settings/preferences/"
OURS, OTHER = "http://testserver", "https://example.org"
TYPED = {"display_name": "Sam", "time_zone": "UTC", "theme": "", "new_password": "secret words"}
OLD, NONE = {TOKEN: "x" * 64}, {TOKEN: ""}
BLAMES_SESSION = "You signed in or out after"


@pytest.fixture
def person(stranger: User) -> WebClient:
    client = WebClient()
    client.force_login(stranger)
    client.get("/settings/")
    return client


def test_answer_names_the_cause(person: WebClient, subtests: pytest.Subtests) -> None:
    cookie = person.cookies[settings.CSRF_COOKIE_NAME].value
    for (token, has_cookie, origin, title), way in product(
        (
            (OLD, True, None, "Outdated form"),
            (NONE, True, None, "Missing security token"),
            (OLD, False, None, "Missing cookie"),
            (OLD, True, OTHER, "Form from another site"),
        ),
        ("page", "own page", "htmx", "program"),
    ):
        person.cookies[settings.CSRF_COOKIE_NAME] = cookie
        if not has_cookie:
            del person.cookies[settings.CSRF_COOKIE_NAME]
        headers = {"HX-Request": "true"} if way == "htmx" else {}
        if way == "program":
            headers["Accept"] = "application/json"
        if origin or way == "own page":
            headers["Origin"] = origin or OURS
        with subtests.test(title, way=way):
            answer = person.post(ADDRESS, {**TYPED, **token}, headers=headers)
            text = answer.content.decode()
            assert answer.status_code == 403
            assert title in text
            assert "Nothing was changed" in text
            assert (BLAMES_SESSION in text) is (title == "Outdated form")
            if way == "program":
                assert answer.json()["error"]["code"] == "csrf_failed"


def test_form_of_our_own_page_can_be_sent_again(person: WebClient, stranger: User) -> None:
    for token, origin, is_offered in (
        (OLD, OURS, True),
        (NONE, OURS, True),
        (OLD, OTHER, False),
        (OLD, None, False),
    ):
        headers = {"Origin": origin} if origin else {}
        name = f"Sam {len(token[TOKEN])}"
        answer = person.post(ADDRESS, {**TYPED, "display_name": name, **token}, headers=headers)
        text = answer.content.decode()
        assert "secret words" not in text
        found = [form for form in forms_in(text) if form.action == ADDRESS]
        assert bool(found) is is_offered, (token, origin)
        if is_offered:
            person.post(ADDRESS, found[0].sent())
            stranger.refresh_from_db()
            assert stranger.first_name == name


def test_page_from_before_sign_in_is_outdated(person: WebClient, stranger: User) -> None:
    text = person.get("/settings/").text
    (form,) = [one for one in forms_in(text) if one.action == ADDRESS]
    person.logout()
    person.post("/login/", {"username": "sam", "password": PASSWORD})
    answer = person.post(ADDRESS, form.fill(display_name="Sam").sent())
    assert answer.status_code == 403
    assert "Outdated form" in answer.text
    visitor = WebClient().post("/login/", {"username": "x", "password": "y", **NONE})
    assert visitor.status_code == 403
    assert "Missing cookie" in visitor.text
