"""Tests for every status that `/api/v1/verify/` returns for a text or its hash."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.http import HttpResponse

from catalog import services
from catalog.entries.services import deprecate, fill_in
from catalog.models import Version
from catalog.version_details import Parameter
from scriptsmith_site.people.sign_in.tokens import make_token
from tests.catalog.shelf import DIRECTORY, PLAIN, SCRIPT, shelve
from tests.make import make_run
from tests.review.maker import make_study
from tests.web_client import WebClient

pytestmark = pytest.mark.django_db


@pytest.fixture
def headers(stranger: User) -> dict[str, str]:
    made = make_token(stranger, name="pipeline", scopes=["agent_read"], days=1, by=stranger)
    return {"Authorization": f"Bearer {made.secret}"}


def by_hash(sha256: str, headers: dict[str, str]) -> HttpResponse:
    return WebClient().get("/api/v1/verify/", {"sha256": sha256}, headers=headers)


def standing(script: str, headers: dict[str, str]) -> dict[str, Any]:
    response = by_hash(Version.hash_of(script).upper(), headers)
    assert response.status_code == 200, response.text
    assert response["Cache-Control"] == "no-store, private"
    known: dict[str, Any] = response.json()
    assert known["verified"] is (known["standing"] == "verified")
    return known


def by_text(text: str, headers: dict[str, str]) -> dict[str, Any]:
    response = WebClient().post(
        "/api/v1/verify/", {"text": text}, content_type="application/json", headers=headers
    )
    assert response.status_code == 200, response.text
    return response.json()


def test_verified_says_by_whom_and_since_when(curator: User, headers: dict[str, str]) -> None:
    version = shelve(verified_by=curator)
    known = standing(PLAIN, headers)
    assert known["standing"] == "verified"
    assert (known["entry"], known["version"]) == (version.entry.slug, 1)
    assert known["verified_by"] == "Carla"
    assert known["verified_at"].startswith(f"{version.verified_at:%Y-%m-%d}")
    assert known["words"].startswith("verified by Carla on ")


def test_one_byte_more_is_another_text(headers: dict[str, str]) -> None:
    shelve()
    assert standing(PLAIN + "\n", headers)["standing"] == "unknown"
    assert standing(PLAIN.replace("\n", "\r\n"), headers)["standing"] == "unknown"


def test_what_is_replaced_suspended_or_out_of_use_is_not_verified(
    curator: User, second_curator: User, headers: dict[str, str]
) -> None:
    first = shelve(verified_by=curator)
    second = services.edit_version(
        first, script="uptime -p\n", details=services.details_of(first), by=curator
    )
    assert standing("uptime -p\n", headers)["standing"] == "not_verified"
    services.verify(second, by=second_curator, note="")
    known = standing(PLAIN, headers)
    assert known["standing"] == "superseded"
    assert known["superseded_by"] == {
        "entry": first.entry.slug,
        "version": 2,
        "sha256": second.sha256,
    }
    services.suspend(first.entry, by=curator, reason="INC-7")
    assert standing("uptime -p\n", headers)["standing"] == "suspended"
    other = shelve("Show the load", script="cat /proc/loadavg\n", verified_by=curator)
    deprecate(other, by=curator, reason="old")
    assert standing(other.script, headers)["standing"] == "deprecated"


def test_agent_learns_that_draft_is_unverified(stranger: User, headers: dict[str, str]) -> None:
    draft = shelve("A secret plan", script=SCRIPT, parameters=[DIRECTORY], state="draft")
    made = make_token(stranger, name="reads", scopes=["read"], days=1, by=stranger)
    reads = {"Authorization": f"Bearer {made.secret}"}
    filled = SCRIPT.replace("set -euo", "DIRECTORY='/srv'\nset -euo", 1)
    assert by_text(filled, reads)["entry"] == draft.entry.slug, "the text is recognised"
    assert standing(SCRIPT, reads)["entry"] == draft.entry.slug
    for known in (standing(SCRIPT, headers), by_text(filled, headers)):
        assert known["standing"] == "not_verified"
        assert known["words"] == "not verified yet"
        told = ("entry", "title", "version", "verified_by", "verified_at", "url")
        assert {known[name] for name in told} == {None}
        assert known["values"] == {}


def test_same_text_suspended_elsewhere_is_suspended(curator: User, headers: dict[str, str]) -> None:
    shelve("One")
    twin = shelve("Two")
    services.suspend(twin.entry, by=curator, reason="INC-7")
    assert standing(PLAIN, headers)["standing"] == "suspended"


def test_a_script_with_values_is_recognised_by_its_text(headers: dict[str, str]) -> None:
    version = shelve(script=SCRIPT, parameters=[DIRECTORY])
    for value in ("/srv/it's here", '/srv/$(reboot) `x` \\ "y"', "/srv/é"):
        filled = fill_in(version, {"DIRECTORY": value}).text
        assert standing(filled, headers)["standing"] == "unknown"
        known = by_text(filled, headers)
        assert (known["standing"], known["values"]) == ("verified", {"DIRECTORY": value})
    assert by_text(SCRIPT, headers)["values"] == {}


def test_arguments_and_options_are_read_back(headers: dict[str, str]) -> None:
    script = (
        "#!/usr/bin/env bash\n# Two of each.\nwhile getopts n:f: option; do\n"
        "  case $option in\n    n) lines=$OPTARG ;;\n    f) form=$OPTARG ;;\n  esac\ndone\n"
        'shift $((OPTIND - 1))\ntail -n "$lines" -- "$1" "$2" "$form"\n'
    )
    version = shelve("Show the end of a file", script=script)
    rows = {row["name"]: Parameter.model_validate(row) for row in version.parameters}
    values = {
        name: "7" if parameter.type == "number" else f"/srv/{place} -n 'x'"
        for place, (name, parameter) in enumerate(rows.items())
    }
    filled = fill_in(version, values)
    assert not filled.problems and filled.text.count("set -- ") == 1, filled.problems
    assert by_text(filled.text, headers)["values"] == values


UNKNOWN = [
    "DIRECTORY=$(reboot)", "DIRECTORY=/srv", "DIRECTORY='/srv'; reboot", "DIRECTORY='/srv' reboot",
    "PATH='/tmp'", "DIRECTORY='~/x'", "set -- 'x'", "DIRECTORY=''", "# nothing",
]  # fmt: skip


def test_forged_value_is_unknown(headers: dict[str, str], subtests: pytest.Subtests) -> None:
    shelve(script=SCRIPT, parameters=[DIRECTORY])
    for line in UNKNOWN:
        with subtests.test(line):
            forged = SCRIPT.replace("set -euo", f"{line}\nset -euo", 1)
            assert by_text(forged, headers)["standing"] == "unknown"


def test_what_is_no_hash_is_refused(headers: dict[str, str]) -> None:
    for bad in ("", "x", "a" * 63, "a" * 65, "g" * 64, "a" * 64 + "\n", "٣" * 64):
        assert by_hash(bad, headers).status_code == 422, bad
    assert WebClient().get("/api/v1/verify/", headers=headers).status_code == 422


def test_it_takes_a_token_with_a_scope_that_reads(stranger: User) -> None:
    for scope, status in (("read", 200), ("agent_read", 200), ("ask", 403)):
        made = make_token(stranger, name="x", scopes=[scope], days=1, by=stranger)
        answer = by_hash("0" * 64, {"Authorization": f"Bearer {made.secret}"})
        assert answer.status_code == status
    assert WebClient().get("/api/v1/verify/").status_code == 401


@pytest.mark.slow
def test_open_study_changes_nothing(reviewer: User, manager: User, headers: dict[str, str]) -> None:
    """The endpoint must reveal nothing about the scripts of an open study. Their scores must not matter."""
    shelve()
    run = make_run(script="study one\n", feedback="It fails.", refined="study two\n")
    texts = ("study one\n", "study two\n", PLAIN)
    keys = ("standing", "verified", "words", "entry", "version", "values")

    def seen() -> list[tuple[object, ...]]:
        return [tuple(standing(text, headers)[key] for key in keys) for text in texts]

    before = seen()
    make_study(by=manager, reviewers=[reviewer], items=2, overlap=1, name="Open")
    type(run).objects.filter(pk=run.pk).update(verdict="incorrect")
    assert seen() == before
