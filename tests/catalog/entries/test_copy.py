"""Tests for what is blocked, recorded and returned when a user copies a script to run it."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from catalog.entries import services
from catalog.models import Use
from tests.catalog.conftest import DONE, Way
from tests.catalog.shelf import DIRECTORY, SCRIPT, ClientFor, shelve

pytestmark = pytest.mark.django_db

DELETE = """#!/usr/bin/env bash
set -euo pipefail
: "${DIRECTORY:?folder to empty}"
rm -rf "$DIRECTORY"/*
"""


def test_the_use_is_recorded_with_version_person_and_values(way: Way, reviewer: User) -> None:
    version = shelve(script=SCRIPT, parameters=[DIRECTORY])
    answered = way(reviewer, version, "use", values={"DIRECTORY": "/srv/my files"})
    assert answered.status == DONE
    use = Use.objects.get()
    assert (use.version, use.by, use.values) == (version, reviewer, {"DIRECTORY": "/srv/my files"})
    assert use.reason == ""


def test_what_is_handed_out_is_the_script_with_the_values_quoted(reviewer: User) -> None:
    version = shelve(script=SCRIPT, parameters=[DIRECTORY])
    copied = services.record_use(version, by=reviewer, values={"DIRECTORY": "/a b'; rm -rf ~"})
    line = """DIRECTORY='/a b'"'"'; rm -rf ~'\n"""
    assert line in copied.text
    assert copied.text.replace(line, "") == SCRIPT


def test_a_script_without_parameters_is_handed_out_byte_for_byte(reviewer: User) -> None:
    script = "#!/bin/bash\r\n\techo '\u00e9 \u200b'\n\n\n"
    version = shelve(script=script)
    assert services.record_use(version, by=reviewer, values={}).text == script


BLOCKED = [
    (SCRIPT, {}, "Enter a value"),
    (SCRIPT, {"DIRECTORY": ""}, "Enter a value"),
    (SCRIPT, {"DIRECTORY": "/a\x07b"}, "Control characters"),
    (DELETE, {"DIRECTORY": "/"}, "delete everything in"),
    (DELETE, {"DIRECTORY": "/a/../"}, "delete everything in"),
]


def test_copying_with_a_missing_or_dangerous_value_is_blocked(
    way: Way, reviewer: User, subtests: pytest.Subtests
) -> None:
    versions = {
        script: shelve(script=script, parameters=[DIRECTORY]) for script in (SCRIPT, DELETE)
    }
    for script, values, said in BLOCKED:
        with subtests.test(str(values)):
            answered = way(reviewer, versions[script], "use", values=values)
            assert answered.status == 422
            assert said in answered.text
            assert not Use.objects.exists()


def test_copying_an_unverified_version_needs_a_reason(way: Way, reviewer: User) -> None:
    for state in ("draft", "in_review", "deprecated"):
        version = shelve(state=state)
        assert way(reviewer, version, "use").status == 422
        assert not version.uses.exists()
        assert way(reviewer, version, "use", reason="disk full, INC-7").status == DONE
        assert version.uses.get().reason == "disk full, INC-7"


def test_account_without_rights_copies_only_what_is_verified(way: Way, stranger: User) -> None:
    assert way(stranger, shelve(state="in_review"), "use", reason="please").status == 403
    assert not Use.objects.exists()
    assert way(stranger, shelve(), "use").status == DONE


def test_a_suspended_entry_counts_as_unreviewed(way: Way, reviewer: User, curator: User) -> None:
    version = shelve()
    services.suspend(version.entry, by=curator, reason="INC-3")
    assert way(reviewer, version, "use").status == 422
    assert way(reviewer, version, "use", reason="I know what it does").status == DONE


def test_the_page_after_it_shows_the_exact_text_and_asks_how_it_went(
    reviewer: User, client_for: ClientFor
) -> None:
    version = shelve(script="#!/bin/bash\necho '</script><b>&amp;'\n")
    client = client_for(reviewer)
    page = client.post(f"/catalogue/versions/{version.pk}/use/", {}, follow=True)
    assert page.status_code == 200
    assert '<script id="taken-text" type="application/json">' in page.text
    assert "\\u003C/script\\u003E\\u003Cb\\u003E\\u0026amp;" in page.text
    assert "</script><b>" not in page.text.split('id="taken"')[1].split("taken-text")[0]
    for outcome in Use.Outcome.values:
        assert f'value="{outcome}"' in page.text


def test_a_use_is_seen_only_by_who_made_it(
    reviewer: User, second_reviewer: User, client_for: ClientFor
) -> None:
    use = services.record_use(shelve(), by=reviewer, values={}).use
    assert client_for(reviewer).get(f"/catalogue/uses/{use.pk}/").status_code == 200
    assert client_for(second_reviewer).get(f"/catalogue/uses/{use.pk}/").status_code == 404
    assert client_for(second_reviewer).get(f"/api/v1/uses/{use.pk}/").status_code == 404


def test_the_preview_changes_nothing_and_says_what_is_missing(
    reviewer: User, client_for: ClientFor
) -> None:
    version = shelve(script=SCRIPT, parameters=[DIRECTORY])
    client = client_for(reviewer)
    address = f"/catalogue/versions/{version.pk}/preview/"

    empty = client.post(address, {"value-DIRECTORY": ""}, headers={"HX-Request": "true"})
    full = client.post(address, {"value-DIRECTORY": "/srv"}, headers={"HX-Request": "true"})
    plain = client.post(address, {"value-DIRECTORY": "/srv"})

    assert "Enter a value" in empty.text
    assert "Enter a value" not in full.text
    assert "<html" not in full.text and "<html" in plain.text
    assert "/srv" in full.text and 'value="/srv"' in plain.text
    assert not Use.objects.exists()
    assert client.get(address).status_code == 405


def test_the_record_beside_copy_counts_what_was_said(reviewer: User) -> None:
    version = shelve()
    for outcome in ("worked", "worked", "no_effect", ""):
        use = services.record_use(version, by=reviewer, values={}).use
        if outcome:
            services.record_outcome(use, outcome=outcome, by=reviewer)
    record = services.track_record(version)
    assert (record.uses, record.rated, record.worked) == (4, 3, 2)


def test_an_address_may_bring_values_along(reviewer: User, client_for: ClientFor) -> None:
    version = shelve(script=SCRIPT, parameters=[DIRECTORY])
    page = client_for(reviewer).get(
        f"/catalogue/{version.entry.slug}/?value-DIRECTORY=/srv&reason=x"
    )
    assert 'value="/srv"' in page.text
    assert "Enter a value" not in page.text


def test_the_lines_of_findings_move_with_the_values(reviewer: User) -> None:
    version = shelve(
        script='#!/bin/bash\n: "${DIRECTORY:?where}"\nls $DIRECTORY\n', parameters=[DIRECTORY]
    )
    before = {row["code"]: row["line"] for row in version.findings}
    filled = services.fill_in(version, {"DIRECTORY": "/srv"})
    after = {row["code"]: row["line"] for row in filled.findings}
    assert before["SC2086"] == 3
    assert after["SC2086"] == 4
    assert filled.text.split("\n")[3] == "ls $DIRECTORY"
