"""A form that is refused for its token: the page says what happened, and loses nothing that was typed."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.contrib.auth.models import User

from tests.first_cases import first_cases
from tests.page_forms import TOKEN, forms_in
from tests.people import PASSWORD
from tests.web_client import WebClient

ADDRESS = "/settings/preferences/"
OURS, OTHER = "http://testserver", "https://example.org"
TYPED = {"display_name": "Sam", "time_zone": "UTC", "theme": "", "new_password": "secret words"}
OLD, NONE = {TOKEN: "x" * 64}, {TOKEN: ""}
BLAMES_SESSION = "You have signed in or out"


@pytest.fixture
def person(stranger: User) -> WebClient:
    client = WebClient()
    client.force_login(stranger)
    client.get("/settings/")
    return client


@pytest.mark.parametrize(
    ("token", "has_cookie", "origin", "title", "blames_session"),
    first_cases(
        3,
        [
            pytest.param(OLD, True, None, "This form is out of date", True, id="an old token"),
            pytest.param(NONE, True, None, "This form had no security token", False, id="none"),
            pytest.param(OLD, False, None, "Your browser sent no cookie", False, id="no cookie"),
            pytest.param(OLD, True, OTHER, "did not come from this site", False, id="another site"),
        ],
    ),
)
@pytest.mark.parametrize("way", ["page", "own page", "htmx", "program"])
def test_the_answer_names_the_cause(
    person: WebClient,
    token: dict[str, str],
    has_cookie: bool,
    origin: str | None,
    title: str,
    blames_session: bool,
    way: str,
) -> None:
    if not has_cookie:
        del person.cookies[settings.CSRF_COOKIE_NAME]
    headers = {"HX-Request": "true"} if way == "htmx" else {}
    if way == "program":
        headers["Accept"] = "application/json"
    if origin or way == "own page":
        headers["Origin"] = origin or OURS
    answer = person.post(ADDRESS, {**TYPED, **token}, headers=headers)
    text = answer.content.decode()
    assert answer.status_code == 403
    assert title in text
    assert "Nothing was changed" in text
    assert (BLAMES_SESSION in text) is blames_session
    if way == "program":
        assert answer.json()["error"]["code"] == "csrf_failed"


@pytest.mark.parametrize(
    ("token", "origin", "offered"),
    first_cases(
        1,
        [
            pytest.param(OLD, OURS, True, id="our own page, old token"),
            pytest.param(NONE, OURS, True, id="our own page, no token"),
            pytest.param(OLD, OTHER, False, id="another site"),
            pytest.param(OLD, None, False, id="nobody knows"),
        ],
    ),
)
def test_what_our_own_page_sent_is_sent_again_by_a_press(
    person: WebClient, stranger: User, token: dict[str, str], origin: str | None, offered: bool
) -> None:
    headers = {"Origin": origin} if origin else {}
    answer = person.post(ADDRESS, {**TYPED, **token}, headers=headers)
    text = answer.content.decode()
    assert "secret words" not in text
    found = [form for form in forms_in(text) if form.action == ADDRESS]
    assert bool(found) is offered
    if offered:
        person.post(ADDRESS, found[0].sent())
        stranger.refresh_from_db()
        assert stranger.first_name == "Sam"


def test_a_page_from_before_signing_in_again_is_out_of_date(
    person: WebClient, stranger: User
) -> None:
    (form,) = [
        one for one in forms_in(person.get("/settings/").content.decode()) if one.action == ADDRESS
    ]
    person.logout()
    person.post("/login/", {"username": "sam", "password": PASSWORD})
    answer = person.post(ADDRESS, form.fill(display_name="Sam").sent())
    assert answer.status_code == 403
    assert "This form is out of date" in answer.content.decode()


def test_a_visitor_is_told_too(db: None) -> None:
    answer = WebClient().post("/login/", {"username": "x", "password": "y", **NONE})
    assert answer.status_code == 403
    assert "Your browser sent no cookie" in answer.content.decode()
