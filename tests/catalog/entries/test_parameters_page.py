"""Tests that pages suggest parameters from the script, fill them in, and reject invalid values."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from catalog.entries import services
from catalog.models import Entry, Version
from catalog.version_details import Parameter
from tests.catalog.shelf import ClientFor, shelve

pytestmark = pytest.mark.django_db
ROWS = {
    "parameters-TOTAL_FORMS": "1",
    "parameters-INITIAL_FORMS": "0",
    "parameters-MIN_NUM_FORMS": "0",
    "parameters-MAX_NUM_FORMS": "40",
}
ASKS = """#!/usr/bin/env bash
: "${DIRECTORY:?folder to look into}"
MODE=${MODE:-fast}
case "$MODE" in fast|slow) ;; *) exit 2 ;; esac
read -rp "Which host? " HOST
find "$DIRECTORY" -mtime "+${DAYS:-30}"
"""


@pytest.fixture
def client(client_for: ClientFor, curator: User) -> Client:
    return client_for(curator)


def test_a_script_s_parameters_are_suggested_and_nothing_typed_is_lost(client: Client) -> None:
    form = {
        **ROWS, "suggest": "yes", "script": ASKS, "title": "", "tags": "a, b", "undo": "none",
        "runs_on": "node", "parameters-0-name": "DAYS", "parameters-0-description": "how old",
    }  # fmt: skip

    answer = client.post("/catalogue/new/", form)

    assert answer.status_code == 200
    rows = answer.context["rows"]
    found = {row["name"].value(): row["type"].value() for row in rows.forms if row["name"].value()}
    assert found == {"DAYS": "", "DIRECTORY": "path", "MODE": "choice"} | {"DAYS": found["DAYS"]}
    page = answer.text
    for kept in ("a, b", "how old", "fast, slow", "folder to look into"):
        assert kept in page
    assert "Line 5 reads HOST from the keyboard" in page
    assert "field-error" not in page and not Entry.objects.exists()


def test_they_are_suggested_for_the_next_version_too(client: Client) -> None:
    version = shelve()
    answer = client.post(
        f"/catalogue/versions/{version.pk}/edit/", {**ROWS, "suggest": "yes", "script": ASKS}
    )
    assert answer.status_code == 200
    assert "DIRECTORY" in answer.text and "DAYS" in answer.text
    assert Version.objects.count() == 1


def test_what_was_suggested_is_saved_and_filled_in(client: Client, curator: User) -> None:
    described = [
        Parameter(name="DIRECTORY", type="path"),
        Parameter(name="DAYS", type="number", required=False, default="30"),
    ]
    version = shelve(script=ASKS, parameters=described)

    filled = services.fill_in(version, {"DIRECTORY": "/srv", "DAYS": "7", "MODE": "slow"})

    assert filled.problems == {}
    for line in ("DIRECTORY='/srv'\n", "DAYS='7'\n", "MODE='slow'\n"):
        assert line in filled.text
    assert (
        "Choose one of: fast, slow"
        in services.fill_in(version, {"DIRECTORY": "/srv", "MODE": "best"}).problems.values()
    )


REFUSED = [
    ("path", "~/logs", "Enter the full path"),
    ("path", "-rf", "Put ./ before the name"),
    ("path", "a\nb", "line breaks"),
    ("number", "7\n", "line breaks"),
    ("number", "7; rm", "Enter a number"),
    ("text", "a\x1b[2J", "Control characters"),
]


def test_a_value_that_would_not_do_is_refused(subtests: pytest.Subtests) -> None:
    for type, value, said in REFUSED:
        with subtests.test(value):
            version = shelve(
                script=': "${DIRECTORY:?}"\nls "$DIRECTORY"\n',
                parameters=[Parameter(name="DIRECTORY", type=type)],
            )
            assert said in services.fill_in(version, {"DIRECTORY": value}).problems["DIRECTORY"]


def test_a_text_of_several_lines_is_one_value() -> None:
    version = shelve(
        script=': "${TEXT:?}"\nprintf %s "$TEXT"\n', parameters=[Parameter(name="TEXT")]
    )
    filled = services.fill_in(version, {"TEXT": "it's\ntwo\tlines"})
    assert filled.text.startswith(r"TEXT=$'it\x27s\ntwo\tlines'" + "\n")


def test_a_text_that_is_no_script_is_refused_at_its_field(client: Client) -> None:
    answer = client.post("/catalogue/new/", {**ROWS, "suggest": "yes", "script": "a" * 1_000_001})
    assert answer.status_code == 422
    assert "The limit is 1,000,000." in answer.text
