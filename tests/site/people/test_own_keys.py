"""Tests for a user's own keyboard shortcuts: one table, saved changes, rejected conflicts, and labels on the pages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from auditlog.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client

from core.errors import BadInput
from review import services
from review.models import Assignment
from scriptsmith_site.models import Profile
from scriptsmith_site.people.preferences.keys import (
    GROUPS,
    ORIGINAL,
    belongs_to_pages,
    find_faults,
    save_keys,
)
from scriptsmith_site.people.sign_in.tokens import make_token
from tests.keys import shown
from tests.make import make_run
from tests.people import PASSWORD
from tests.site.browsing import ClientFor

TEMPLATES = Path(__file__).parents[3] / "templates"
_LITERAL = re.compile(r'\bkey="([^"{]+)"')


@pytest.fixture
def held(reviewer: User) -> Assignment:
    item = services.take_in(make_run().pk)
    return services.claim_item(item, by=reviewer)


@pytest.fixture
def rita(client: Client, reviewer: User) -> Client:
    client.post("/login/", {"username": "rita", "password": PASSWORD})
    return client


def test_changed_key_is_on_control(rita: Client, reviewer: User, held: Assignment) -> None:
    assert (
        rita.post("/settings/keys/save/", {**ORIGINAL, "approve": "Y", "rubric": "gx"})["Location"]
        == "/settings/keys/"
    )
    assert Profile.objects.get(user=reviewer).keys == {"approve": "y", "rubric": "g x"}
    page = rita.get(f"/items/{shown(held.item)}/").text
    assert 'value="approve" data-key="y"' in page and 'data-key="g x"' in page
    assert 'data-key="a"' not in page and 'data-key="g r"' not in page
    assert 'data-key="e"' in page, "what was not changed is as it was"


def test_another_persons_keys_stay_as_they_were(
    rita: Client, held: Assignment, second_reviewer: User, client_for: ClientFor
) -> None:
    rita.post("/settings/keys/save/", {"queue": "g z"})
    assert 'data-key="g z"' in rita.get("/queue/").text
    assert 'data-key="g q"' in client_for(second_reviewer).get("/queue/").text


def test_invalid_keys_are_refused(rita: Client, reviewer: User, subtests: pytest.Subtests) -> None:
    for reason, changed, fields in (
        ("two of a page share it", {"approve": "r"}, {"approve", "reject"}),
        ("it begins another", {"approve": "g"}, {"approve", "rubric"}),
        ("two of the page for settling", {"context": "h"}, {"context", "names"}),
        ("some page has it", {"search": "s"}, {"search"}),
        ("it begins with what some page has", {"home": "x h"}, {"home"}),
        ("it could be a script's number", {"rubric": "s 1"}, {"rubric", "show"}),
        ("it would come before the number", {"undo": "s"}, {"undo", "show"}),
        ("two keys before a number", {"show": "s s"}, {"show"}),
        ("it moves rows", {"flag": "j"}, {"flag"}),
        ("it opens the sheet", {"flag": "? x"}, {"flag"}),
        ("none", {"flag": ""}, {"flag"}),
        ("three", {"flag": "a b c"}, {"flag"}),
        ("the browser's", {"flag": "ctrl+s"}, {"flag"}),
        ("not a key", {"flag": "\u00a0"}, {"flag"}),
    ):
        with subtests.test(reason):
            with pytest.raises(BadInput) as refused:
                save_keys(reviewer, changed)
            assert refused.value.field in fields
            answer = rita.post("/settings/keys/save/", changed)
            assert answer.status_code == 422 and not Profile.objects.exists()
            assert fields <= set(re.findall(r'id="key-(\w+)-error"', answer.text))
    assert rita.get("/settings/keys/").text.count("field-error") == 0


def test_refused_keys_stay_on_the_page_until_reset(rita: Client, reviewer: User) -> None:
    page = rita.post("/settings/keys/save/", {"approve": "r", "flag": "abc", "skip": "y"}).text
    for name, typed in (("approve", "R"), ("flag", "ABC"), ("skip", "Y")):
        assert f'name="{name}" value="{typed}"' in page
    rita.post("/settings/keys/save/", {"approve": "y"})
    assert "Reset all keys" in rita.get("/settings/keys/").text
    rita.post("/settings/keys/save/", {"approve": "y", "reset": "1"})
    assert Profile.objects.get(user=reviewer).keys == {}


def test_keys_have_no_faults(reviewer: User) -> None:
    assert find_faults(ORIGINAL) == {}
    assert len({action.name for group in GROUPS for action in group.actions}) == 43
    for keys in (
        {"show": "g"},  # a letter before a number does not start a sequence of letters
        {"start": "a", "names": "a"},  # these actions are never on the same page
    ):
        assert save_keys(reviewer, keys) == keys
    # Fields that are not actions are ignored.
    assert save_keys(reviewer, {"csrfmiddlewaretoken": "x", "approve": "y"}) == {"approve": "y"}


def test_no_template_has_a_key_that_the_table_does_not_know_of() -> None:
    """Keys that are not in the table are reserved for actions on every page."""
    unknown = {
        (path.name, key)
        for path in TEMPLATES.rglob("*.html")
        if path.name != "gallery.html"
        for key in _LITERAL.findall(path.read_text(encoding="utf-8"))
        if key not in ("mod+enter", "mod+k", "enter", "?") and not belongs_to_pages(key)
    }
    assert unknown == set()
    desk = (
        "_act",
        "_desk",
        "_other_actions",
        "_pane",
        "_progress",
        "_score_form",
        "_decide_form",
        "_not_mine",
        "_line_comment_form",
    )
    for name in desk:
        text = (TEMPLATES / "review" / "desk" / f"{name}.html").read_text(encoding="utf-8")
        assert set(_LITERAL.findall(text)) <= {"mod+enter"}, name


def test_keys_of_a_session_from_before_they_could_be_changed(rita: Client) -> None:
    session = rita.session
    session["preferences"] = session["preferences"][:2]
    session.save()
    assert 'data-key="g q"' in rita.get("/queue/").text


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
