"""Tests for the list of entries, the page of an entry and its history."""

from __future__ import annotations

import html

import pytest
from django.contrib.auth.models import User
from django.test import Client

from catalog.entries import services as entry_services
from catalog.models import EmbeddingModel, Version
from catalog.version_details import VersionDetails
from tests.catalog.shelf import DIRECTORY, SCRIPT, ClientFor, shelve
from tests.query_counts import count_queries

pytestmark = pytest.mark.django_db

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>{{ 7|add:7 }}%s\u202e"


@pytest.fixture
def shelf(curator: User) -> dict[str, Version]:
    return {
        "spooler": shelve("Restart the print spooler", script="systemctl restart cups\n"),
        "uptime": shelve("Show the uptime", script="uptime\n", tags=["triage"], owner=curator),
        "wipe": shelve("Empty the cache", script="rm -rf /var/cache/app/*\n", state="in_review"),
        "old": shelve("Ping the old host", script="ping -c1 old\n", state="deprecated"),
    }


def listed(client: Client, query: str = "") -> list[str]:
    """Return the titles on the page in order, from the links in its rows."""
    page = client.get(f"/catalogue/{query}")
    assert page.status_code == 200
    return [
        html.unescape(part.split(">", 1)[1].split("<", 1)[0])
        for part in page.text.split('class="row-title" data-row')[1:]
    ]


NARROWED = {
    "": ["Empty the cache", "Show the uptime", "Restart the print spooler"],
    "?state=all": ["Ping the old host", "Empty the cache", "Show the uptime", "Restart the print spooler"],
    "?state=in_review": ["Empty the cache"],
    "?state=deprecated": ["Ping the old host"],
    "?state=suspended": [],
    "?risk=high": ["Empty the cache"],
    "?side_effect=read_only&tag=triage": ["Show the uptime"],
    "?owner=carla": ["Show the uptime"],
    "?tag=nothing": [],
}  # fmt: skip


def test_filters_and_words_narrow_the_list(shelf: dict[str, Version], as_reviewer: Client) -> None:
    assert {query: listed(as_reviewer, query) for query in NARROWED} == NARROWED
    assert listed(as_reviewer, "?q=restart+the+print+spooler")[0] == "Restart the print spooler"
    assert listed(as_reviewer, "?q=cups")[0] == "Restart the print spooler"
    assert listed(as_reviewer, "?q=empty+cache")[0] == "Empty the cache"
    assert "Empty the cache" not in listed(as_reviewer, "?q=empty+cache&state=verified")
    assert listed(as_reviewer, "?q=zzyzx") == []


def test_search_without_embedder_uses_words(shelf: dict[str, Version], as_reviewer: Client) -> None:
    EmbeddingModel.objects.update(spec="nowhere.to:be_found", name="lost")
    assert "keywords only" in as_reviewer.get("/catalogue/?q=spooler").text
    assert listed(as_reviewer, "?q=spooler") == ["Restart the print spooler"]


def test_an_address_that_makes_no_sense_is_refused(as_reviewer: Client) -> None:
    queries = ("?state=gone", "?before=x", "?sort=x", "?sort=name&start=-1", "?q=a%00b", "?risk=42")
    found = {query: as_reviewer.get(f"/catalogue/{query}").status_code for query in queries}
    assert found == dict.fromkeys(queries, 422)


def test_empty_lists_say_the_next_step(as_curator: Client, as_reviewer: Client) -> None:
    assert "Request script" in as_reviewer.get("/catalogue/").text
    assert "New entry" in as_curator.get("/catalogue/").text
    assert "No matches" in as_reviewer.get("/catalogue/?tag=x").text


def test_list_goes_on_page_by_page(as_reviewer: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("catalog.listing.views.entry_list.PAGE_SIZE", 2)
    titles = [shelve(f"Task {number}", script=f"echo {number}\n").entry for number in range(5)]
    assert listed(as_reviewer) == ["Task 4", "Task 3"]
    assert listed(as_reviewer, f"?before={titles[3].pk}") == ["Task 2", "Task 1"]
    assert listed(as_reviewer, f"?after={titles[2].pk}") == ["Task 4", "Task 3"]


@pytest.mark.slow
def test_number_of_queries_does_not_grow(curator: User, as_curator: Client) -> None:
    first = shelve("Task zero", script=SCRIPT, tags=["a"], owner=curator)
    addresses = [
        *("/catalogue/", "/catalogue/?q=task", f"/catalogue/{first.entry.slug}/"),
        *(f"/catalogue/{first.entry.slug}/history/", "/api/v1/entries/", "/api/v1/entries/?q=task"),
        f"/api/v1/entries/{first.entry.slug}/",
    ]

    def count() -> dict[str, int]:
        return {address: count_queries(as_curator, address) for address in addresses}

    count()
    few = count()
    for number in range(3):
        shelve(f"Task {number}", script=f"echo {number}\n", tags=["a", "b"], owner=curator)
        newest = first.entry.versions.latest("number")
        entry_services.edit_version(
            newest, script=f"date +{number}\n", details=entry_services.details_of(newest).model_copy(
                update={"parameters": None}), by=curator,
        )  # fmt: skip
        entry_services.add_phrasing(first.entry, text=f"Another {number}", by=curator)

    assert count() == few
    assert max(few.values()) <= 23


@pytest.mark.slow
def test_filtered_list_looks_up_each_name_once(curator: User, as_curator: Client) -> None:
    shelve("Task zero", script=SCRIPT, tags=["a"], owner=curator)
    found = {}
    names = ("tag=a", f"owner={curator.username}", f"tag=a&owner={curator.username}")
    for query in ("age=new7", *names):
        as_curator.get(f"/catalogue/?{query}")
        found[query] = count_queries(as_curator, f"/catalogue/?{query}")
    assert {query: count - found["age=new7"] for query, count in found.items()} == dict(
        zip(found, (0, 1, 1, 2), strict=True)
    )


def test_the_page_shows_what_is_known_beside_copy(
    curator: User, second_curator: User, reviewer: User, client_for: ClientFor
) -> None:
    version = shelve(
        script=SCRIPT, parameters=[DIRECTORY], verified_by=second_curator, undo="put them back",
        check_before="room on the disk", phrasings=["Show stale files"], tools=["find"],
    )  # fmt: skip
    page = client_for(reviewer).get(f"/catalogue/{version.entry.slug}/").text

    for said in (
        "verified by Curt",
        "just now",
        "not used yet",
        "put them back",
        "room on the disk",
        "Show stale files",
        'name="value-DIRECTORY"',
        "folder to look into",
    ):
        assert said in page
    assert "Curation" not in page


def test_entry_page_warns_about_scripts_without_review(as_reviewer: Client) -> None:
    version, client = shelve(state="in_review"), as_reviewer
    for provenance, said in (
        ({"run": 3, "models": {}}, "Model checks miss about half of all incorrect scripts"),
        ({"origin": "import of x"}, "<strong>Not reviewed.</strong>"),
    ):
        Version.objects.filter(pk=version.pk).update(provenance=provenance)
        assert said in client.get(f"/catalogue/{version.entry.slug}/").text


def test_curators_see_only_what_they_may_do_now(
    curator: User, second_curator: User, client_for: ClientFor
) -> None:
    version = shelve(state="in_review", author=curator)
    address = f"/catalogue/{version.entry.slug}/"

    own = client_for(curator).get(address).text
    others = client_for(second_curator).get(address).text

    review = f"/catalogue/versions/{version.pk}/review/"
    assert "another curator has to verify it" in own
    assert f'href="{review}"' in others
    decide = f'action="/catalogue/versions/{version.pk}/verify/"'
    own_review = client_for(curator).get(review).text
    assert "another curator has to verify it" in own_review and decide not in own_review
    assert decide in client_for(second_curator).get(review).text
    assert f"/catalogue/versions/{version.pk}/submit/" not in others


def test_hostile_text_stays_text(curator: User, as_curator: Client) -> None:
    version = shelve(
        HOSTILE, script=f"echo '{HOSTILE}'\n", phrasings=[f"x {HOSTILE}"], undo=HOSTILE,
        check_after=HOSTILE, links=[{"url": "https://example.org/", "label": HOSTILE}],
    )  # fmt: skip
    Version.objects.filter(pk=version.pk).update(provenance={HOSTILE: HOSTILE})
    entry_services.suspend(version.entry, by=curator, reason=HOSTILE)

    for address in (
        "/catalogue/",
        f"/catalogue/?q={version.entry.slug}",
        f"/catalogue/{version.entry.slug}/",
        f"/catalogue/{version.entry.slug}/history/",
        f"/catalogue/versions/{version.pk}/edit/",
    ):
        page = as_curator.get(address)
        assert page.status_code == 200
        assert "<script>alert" not in page.text
        assert "<img src=x" not in page.text


def test_the_history_shows_two_versions_side_by_side(curator: User, as_reviewer: Client) -> None:
    version = shelve(script="uptime\n")
    details = entry_services.details_of(version).model_copy(update={"tools": None})
    entry_services.edit_version(version, script="uptime --pretty\n", details=details, by=curator)
    address = f"/catalogue/{version.entry.slug}/history/"
    assert "--pretty" in as_reviewer.get(address).text
    assert as_reviewer.get(f"{address}?from=1&to=2&view=side").status_code == 200
    assert "--pretty" not in as_reviewer.get(f"{address}?from=1&to=1").text
    assert as_reviewer.get(f"{address}?from=7").status_code == 404
    assert as_reviewer.get(f"{address}?to=x").status_code == 404


def test_a_version_has_an_address_of_its_own(curator: User, as_reviewer: Client) -> None:
    version = shelve(script="uptime\n")
    entry_services.edit_version(version, script="date -u\n", details=VersionDetails(), by=curator)
    address = f"/catalogue/{version.entry.slug}/"
    assert "date" not in as_reviewer.get(address).text.split('id="filled"')[1].split("</figure>")[0]
    assert "date" in as_reviewer.get(f"{address}?version=2").text.split('id="filled"')[1]
    assert as_reviewer.get(f"{address}?version=3").status_code == 404
    assert as_reviewer.get("/catalogue/nothing-here/").status_code == 404
