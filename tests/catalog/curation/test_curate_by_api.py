"""Tests for curation through the API, with the services and errors of the pages."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.http import HttpResponse

from catalog.curation.services.duplicates import compare_entries
from catalog.models import Entry, Merge, NearDuplicate, Version
from tests.catalog.shelf import PLAIN, ClientFor, shelve

pytestmark = pytest.mark.django_db

Send = Callable[..., HttpResponse]


@pytest.fixture
def send(curator: User, client_for: ClientFor) -> Send:
    client = client_for(curator)

    def to(address: str, method: str = "post", **data: object) -> HttpResponse:
        send = getattr(client, method)
        return send(f"/api/v1/{address}", data, content_type="application/json")

    return to


def test_an_entry_is_written_edited_and_reverted(send: Send, curator: User) -> None:
    made = send("entries/", title="Say the time", script="date\n", phrasings=["What time is it?"])
    assert made.status_code == 201
    first = Version.objects.get()
    assert (first.state, first.author) == ("draft", curator)

    edited = send(f"versions/{first.pk}/edit/", script="date -u\n", details={"undo": "none"})
    stale = send(f"versions/{first.pk}/edit/", script="date -R\n")
    second = Version.objects.get(number=2)
    reverted = send(f"versions/{first.pk}/revert/")

    assert (edited.status_code, reverted.status_code, stale.status_code) == (201, 201, 409)
    assert "Carla saved version" in stale.text
    assert (second.script, second.undo) == ("date -u\n", "none")
    assert Version.objects.get(number=3).script == "date\n"
    history = send("entries/say-the-time/history/", "get").json()
    assert [event["version"] for event in history] == [3, 2, 1]


def test_an_entry_is_suspended_lifted_renamed_and_worded(send: Send) -> None:
    entry = shelve("Print the uptime").entry
    address = f"entries/{entry.slug}"

    assert send(f"{address}/suspend/", reason="broken").status_code == 200
    assert send(f"{address}/suspend/", reason="again").status_code == 409
    assert send(f"{address}/lift/", note="fine").json()["suspended_at"] is None
    assert send(f"{address}/rename/", title="Show the uptime").json()["title"] == "Show the uptime"
    stale = send(f"{address}/rename/", title="Mine", seen="Print the uptime")
    assert stale.status_code == 409
    added = send(f"{address}/phrasings/", text="How long is it up?")
    assert "How long is it up?" in added.json()["phrasings"]
    gone = send(f"{address}/phrasings/", "delete", text="How long is it up?")
    assert gone.json()["phrasings"] == ["Show the uptime"]
    assert send(f"{address}/phrasings/", "delete", text="Show the uptime").status_code == 409


def test_a_version_is_verified_again_and_labelled(send: Send, curator: User) -> None:
    version = shelve()
    assert send(f"versions/{version.pk}/verify-again/").json()["verified_by"] == "carla"
    labelled = send(f"versions/{version.pk}/labels/", tags=["disk"], owner="carla").json()
    assert (labelled["tags"], labelled["owner"]) == (["disk"], "carla")
    assert send(f"versions/{version.pk}/labels/", tags=["<b>"]).status_code == 422
    assert send(f"versions/{version.pk}/labels/", tags=[], owner="nobody").status_code == 422


def test_entries_are_merged_and_the_merge_is_undone(send: Send) -> None:
    source, target = shelve("Tell the uptime", script="uptime -p\n").entry, shelve().entry

    made = send(f"entries/{source.slug}/merge/", into=target.slug, note="one thing")
    again = send(f"entries/{source.slug}/merge/", into=target.slug)

    assert (made.status_code, again.status_code) == (201, 409)
    assert send(f"entries/{source.slug}/", "get").json()["merged_into"] == target.slug
    merge = Merge.objects.get()
    assert send("merges/", "get").json()["results"][0]["entry"] == source.slug
    assert send(f"merges/{merge.pk}/undo/").status_code == 200
    assert send(f"merges/{merge.pk}/undo/").status_code == 409
    assert Entry.objects.filter(merged_into=None).count() == 2
    assert send(f"entries/{source.slug}/merge/", into="nowhere").status_code == 422


def test_near_duplicates_are_listed_and_dismissed(send: Send) -> None:
    shelve("Print the uptime")
    shelve("Report the uptime", script=PLAIN, state="in_review")
    compare_entries(limit=9)
    pair = NearDuplicate.objects.get()
    assert send("duplicates/", "get").json()["results"][0]["same_script"] is True
    assert send(f"duplicates/{pair.pk}/dismiss/").json()["state"] == "dismissed"
    assert send(f"duplicates/{pair.pk}/dismiss/").status_code == 409
