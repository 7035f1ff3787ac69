"""Similar entries are told while somebody writes, before anything is saved."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from catalog.models import Entry
from catalog.retrieval.services import find_alike
from tests.catalog.shelf import PLAIN, shelve

pytestmark = pytest.mark.django_db

ClientFor = Callable[[User], Client]


def test_a_title_that_is_answered_and_a_script_that_is_there(
    curator: User, client_for: ClientFor
) -> None:
    shelve("Print the uptime of the machine", script="uptime -p\n")
    twin = shelve("Say how long it runs", script=PLAIN, state="in_review").entry
    client = client_for(curator)

    page = client.post("/catalogue/new/alike/", {"title": "Print the uptime of the machine"}).text
    assert "answers this already" in page
    page = client.post(
        "/catalogue/new/alike/", {"title": "x", "script": PLAIN.replace("\n", "\r\n")}
    ).text
    assert "the same script" in page
    assert f"/catalogue/{twin.slug}/" in page
    nothing = client.post("/catalogue/new/alike/", {"title": "Water the plants in the office"}).text
    assert "<li>" not in nothing
    assert Entry.objects.count() == 2


def test_without_a_script_in_the_browser_a_button_shows_them_and_keeps_what_was_typed(
    curator: User, client_for: ClientFor
) -> None:
    shelve("Print the uptime of the machine", script="uptime -p\n")
    typed = {
        "title": "Print the uptime of the machine", "script": "uptime -p\n", "alike": "yes",
        "parameters-TOTAL_FORMS": "0", "parameters-INITIAL_FORMS": "0",
    }  # fmt: skip
    page = client_for(curator).post("/catalogue/new/", typed).text

    assert "the same script" in page
    assert 'value="Print the uptime of the machine"' in page
    assert Entry.objects.count() == 1


ODD = [("", ""), ("x", ""), ("a\0b c", "\0"), ("x " * 20_000, "y" * 300_000), ("the of", " ")]


def test_odd_texts_find_nothing_and_break_nothing(subtests: pytest.Subtests) -> None:
    for title, script in ODD:
        with subtests.test(title):
            assert find_alike(title, script=script) == []


def test_it_is_for_curators(reviewer: User, client_for: ClientFor) -> None:
    assert client_for(reviewer).post("/catalogue/new/alike/", {"title": "x"}).status_code == 403


def test_hostile_titles_stay_text(curator: User, client_for: ClientFor) -> None:
    shelve("Print </a><script>alert(1)</script> the uptime", script=PLAIN)
    page = client_for(curator).post("/catalogue/new/alike/", {"script": PLAIN}).text
    assert "the same script" in page
    assert "<script>alert" not in page
