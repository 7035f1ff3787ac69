"""Tests for reading entries through the API. The tests of the pages also cover changes through the API."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from catalog.entries import services
from catalog.version_details import VersionDetails
from tests.catalog.shelf import ClientFor, shelve

pytestmark = pytest.mark.django_db


def test_entries_are_listed_with_filters_and_search(reviewer: User, client_for: ClientFor) -> None:
    shelve("Show the uptime", tags=["triage"])
    shelve("Empty the cache", script="rm -rf /var/cache/app/*\n", state="in_review")
    client = client_for(reviewer)

    def slugs(query: str = "") -> list[str]:
        return [row["slug"] for row in client.get(f"/api/v1/entries/{query}").json()["results"]]

    assert slugs() == ["empty-the-cache", "show-the-uptime"]
    assert slugs("?state=verified") == ["show-the-uptime"]
    assert slugs("?tag=triage") == ["show-the-uptime"]
    assert slugs("?risk=high&state=in_review") == ["empty-the-cache"]
    assert slugs("?q=uptime") == ["show-the-uptime"]
    assert client.get("/api/v1/entries/?state=gone").status_code == 422
    assert client.get("/api/v1/entries/?q=a%00").status_code == 422


def test_an_entry_has_its_versions(reviewer: User, curator: User, client_for: ClientFor) -> None:
    version = shelve("Show the uptime", phrasings=["Since when?"])
    services.edit_version(version, script="date\n", details=VersionDetails(), by=curator)
    services.record_use(version, by=reviewer, values={})
    client = client_for(reviewer)

    entry = client.get("/api/v1/entries/show-the-uptime/").json()
    single = client.get(f"/api/v1/versions/{version.pk}/").json()

    assert entry["phrasings"] == ["Show the uptime", "Since when?"]
    assert [row["number"] for row in entry["versions"]] == [2, 1]
    assert entry["versions"][1] == single
    assert single["sha256"] == version.sha256
    assert single["track_record"]["uses"] == 1
    assert client.get("/api/v1/entries/nothing/").status_code == 404
    assert client.get("/api/v1/versions/0/").status_code == 404
    assert client.get("/api/v1/versions/x/").status_code == 404


def test_tags_are_listed(reviewer: User, client_for: ClientFor) -> None:
    shelve(tags=["b", "a"])
    names = client_for(reviewer).get("/api/v1/tags/").json()["results"]
    assert sorted(row["name"] for row in names) == ["a", "b"]
