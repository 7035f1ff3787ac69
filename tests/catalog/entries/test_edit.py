"""Tests for writing an entry, showing similar entries, adding a version, and restoring an old version."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from catalog.entries import services
from catalog.models import Entry, Version
from catalog.retrieval import services as retrieval
from catalog.retrieval.services import find_alike
from core.errors import BadInput, NotAllowedNow
from tests.catalog.shelf import DIRECTORY, PLAIN, SCRIPT, ClientFor, shelve

pytestmark = pytest.mark.django_db


def form(**changes: object) -> dict[str, object]:
    """Return the form data that a browser sends, including Windows line endings."""
    return {
        "title": "List old files",
        "phrasings": "Show old files\r\nWhich files are old?",
        "script": SCRIPT.replace("\n", "\r\n"),
        "runs_on": "host",
        "operating_system": "linux",
        "shell": "bash",
        "privileges": "user",
        "tags": "disk, Cleanup".lower(),
        "links": "runbook | Disk full | https://example.org/disk",
        "parameters-TOTAL_FORMS": "2",
        "parameters-INITIAL_FORMS": "0",
        "parameters-0-name": "DIRECTORY",
        "parameters-0-type": "path",
        "parameters-0-required": "on",
        "parameters-0-description": "where to look",
        "parameters-1-name": "",
        **changes,
    }


def test_a_curator_writes_an_entry_and_it_is_a_draft(curator: User, client_for: ClientFor) -> None:
    response = client_for(curator).post("/catalogue/new/", form())

    version = Version.objects.get()
    assert response.status_code == 302
    assert response["Location"] == "/catalogue/list-old-files/?version=1"
    assert (version.state, version.author, version.owner) == ("draft", curator, curator)
    assert version.script == SCRIPT
    assert version.parameters[0]["description"] == "where to look"
    assert sorted(tag.name for tag in version.tags.all()) == ["cleanup", "disk"]
    assert version.links[0]["label"] == "Disk full"
    assert version.side_effect == "read_only"
    assert [phrasing.text for phrasing in version.entry.phrasings.all()] == [
        "List old files",
        "Show old files",
        "Which files are old?",
    ]


WRONG = [
    ({"title": ""}, "This field is required"),
    ({"script": " \r\n"}, "This field can&#x27;t be empty"),
    ({"tags": "Büro"}, "tags"),
    ({"links": "javascript:alert(1)"}, "links"),
    ({"parameters-0-name": "NOTHERE"}, "does not use the parameter"),
    ({"parameters-0-name": "9 LIVES"}, "parameters"),
    ({"runs_on": "moon"}, "Select a valid choice"),
]


def test_what_is_wrong_is_said_and_nothing_typed_is_lost(
    curator: User, client_for: ClientFor, subtests: pytest.Subtests
) -> None:
    for changes, said in WRONG:
        with subtests.test(said):
            page = client_for(curator).post("/catalogue/new/", form(**changes))
            assert page.status_code == 422
            assert said in page.text
            assert "Which files are old?" in page.text
            assert "where to look" in page.text
            assert not Entry.objects.exists()


def test_two_entries_of_one_title_have_two_addresses(curator: User) -> None:
    first = services.create_entry("Say \u00fcber things", script="date\n", by=curator)
    second = services.create_entry("Say uber things!", script="uptime\n", by=curator)
    third = services.create_entry("\u65e5\u672c", script="df\n", by=curator)
    fourth = services.create_entry("New", script="du\n", by=curator)
    slugs = [version.entry.slug for version in (first, second, third, fourth)]
    assert slugs == ["say-uber-things", "say-uber-things-2", "entry", "new-2"]


def test_an_edit_is_a_new_draft_and_the_old_version_goes_on_answering(
    curator: User, client_for: ClientFor
) -> None:
    version = shelve(script=SCRIPT, parameters=[DIRECTORY], owner=curator)
    client = client_for(curator)
    shown = client.get(f"/catalogue/versions/{version.pk}/edit/").text
    assert "find &quot;$DIRECTORY&quot;" in shown
    assert "folder to look into" in shown

    response = client.post(
        f"/catalogue/versions/{version.pk}/edit/",
        form(script=SCRIPT.replace("+30", "+60"), note="sixty days"),
    )

    assert response.status_code == 302
    edited = Version.objects.get(number=2)
    assert (edited.state, edited.author, edited.owner) == ("draft", curator, curator)
    assert edited.provenance == {"origin": "edited", "from_version": 1}
    assert edited.events.get().note == "sixty days"
    assert retrieval.retrieve(version.entry.title).matches[0].version == 1


def test_an_edit_that_changes_nothing_is_none(curator: User) -> None:
    version = shelve(script=SCRIPT, parameters=[DIRECTORY], tags=["disk"])
    with pytest.raises(BadInput, match="There are no changes to save"):
        services.edit_version(
            version, script=SCRIPT, details=services.details_of(version), by=curator
        )


def test_going_back_makes_a_new_draft_with_the_old_text(
    curator: User, client_for: ClientFor
) -> None:
    version = shelve(undo="nothing to undo")
    services.edit_version(version, script="df\n", details=services.details_of(version), by=curator)
    response = client_for(curator).post(
        f"/catalogue/versions/{version.pk}/revert/", {"note": "df was wrong"}
    )
    assert response["Location"].endswith("?version=3")
    reverted = Version.objects.get(number=3)
    assert (reverted.script, reverted.undo, reverted.state) == (PLAIN, "nothing to undo", "draft")
    assert reverted.provenance == {"origin": "reverted", "from_version": 1}


def test_the_newest_version_cannot_be_gone_back_to(curator: User) -> None:
    with pytest.raises(NotAllowedNow):
        services.revert_to(shelve(), by=curator)


def test_tags_owner_and_links_change_in_place(
    curator: User, reviewer: User, client_for: ClientFor
) -> None:
    version = shelve(tags=["old"])
    address = f"/catalogue/versions/{version.pk}/labels/"
    client = client_for(curator)

    data = {"tags": "disk, new", "owner": reviewer.username, "links": "https://example.org/a"}
    assert client.post(address, data).status_code == 302
    assert client.post(address, {**data, "owner": "nobody"}).status_code == 422
    assert client.post(address, {**data, "tags": "<b>"}).status_code == 422
    assert client_for(reviewer).post(address, data).status_code == 403

    version.refresh_from_db()
    assert version.owner == reviewer
    assert version.links == [{"kind": "link", "label": "", "url": "https://example.org/a"}]
    assert sorted(tag.name for tag in version.tags.all()) == ["disk", "new"]
    assert version.entry.versions.count() == 1


def test_a_title_that_is_answered_and_a_script_that_is_there(
    curator: User, client_for: ClientFor
) -> None:
    shelve("Print the uptime of the machine", script="uptime -p\n")
    twin = shelve("Say how long it runs", script=PLAIN, state="in_review").entry
    client = client_for(curator)

    page = client.post("/catalogue/new/alike/", {"title": "Print the uptime of the machine"}).text
    assert "already covers this" in page
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


def test_odd_texts_find_nothing_and_break_nothing() -> None:
    assert [find_alike(title, script=script) for title, script in ODD] == [[]] * len(ODD)


def test_hostile_titles_stay_text(curator: User, client_for: ClientFor) -> None:
    shelve("Print </a><script>alert(1)</script> the uptime", script=PLAIN)
    page = client_for(curator).post("/catalogue/new/alike/", {"script": PLAIN}).text
    assert "the same script" in page
    assert "<script>alert" not in page
