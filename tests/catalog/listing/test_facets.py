"""Tests for the counts next to the list, its sort orders, and saved views."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from catalog.entries import services as entry_services
from catalog.listing import services
from catalog.listing.services.facets import VALUES
from catalog.listing.services.filters import IN_USE, Filters
from catalog.models import Entry, SavedView, Use, Version
from tests.catalog.listing.test_browse import listed
from tests.catalog.shelf import ClientFor, shelve
from tests.first_cases import first_cases

pytestmark = pytest.mark.django_db


@pytest.fixture
def shelf(curator: User, second_curator: User, reviewer: User) -> dict[str, Version]:
    versions = {
        "spooler": shelve("Restart the print spooler", script="systemctl restart cups\n"),
        "uptime": shelve("Show the uptime", script="uptime\n", tags=["triage", "host"], owner=curator),
        "load": shelve("Average load", script="cat /proc/loadavg\n", tags=["triage"]),
        "wipe": shelve("Empty the cache", script="rm -rf /var/cache/app/*\n", state="in_review"),
        "old": shelve("Ping the old host", script="ping -c1 old\n", state="deprecated"),
        "bad": shelve("Say hello", script="echo hello\n"),
        "gone": shelve("Print the uptime", script="uptime -p\n"),
    }  # fmt: skip
    # One entry has a verified version and a draft, one is suspended, and one is merged into another.
    details = entry_services.details_of(versions["load"])
    entry_services.edit_version(
        versions["load"], script="rm -rf /var/tmp/app/*\n",
        details=details.model_copy(update={"risk": None, "side_effect": None, "tools": None}), by=curator,
    )  # fmt: skip
    entry_services.suspend(versions["bad"].entry, by=curator, reason="INC-1")
    Entry.objects.filter(pk=versions["gone"].entry_id).update(merged_into=versions["uptime"].entry)
    for outcome in ("worked", "worse", ""):
        at = timezone.now() if outcome else None
        Use.objects.create(version=versions["uptime"], by=reviewer, outcome=outcome, outcome_at=at)
    Use.objects.create(version=versions["load"], by=reviewer, reason="INC-2")
    ago = timezone.now() - timedelta(days=200)
    Version.objects.filter(pk=versions["load"].pk).update(verified_at=ago)
    return versions


FILTERS = {
    "what the list begins with": Filters(state=IN_USE),
    "one filter": Filters(state=IN_USE, risk="high"),
    "a tag and another": Filters(tag="triage", risk="low"),
    "an owner, whatever the state": Filters(owner="carla", state="all"),
    "a state of entries": Filters(state="suspended"),
    "what was never used": Filters(use="never", age="once"),
}


def length(chosen: Filters) -> int:
    return services.list_entries(chosen, among=Entry.objects.all()).count()


def test_facet_counts_equal_lists(shelf: dict[str, Version], subtests: pytest.Subtests) -> None:
    for name, filters in FILTERS.items():
        with subtests.test(name):
            facets = services.count_facets(filters)
            chosen = {field: list(values) for field, values in VALUES.items()}
            chosen |= {field: list(facets.counts[field]) for field in ("tag", "owner")}
            narrowed = {
                field: {value: length(replace(filters, **{field: value})) for value in values}
                for field, values in chosen.items()
            }
            found = {
                field: {value: facets.counts[field][value] for value in values}
                for field, values in chosen.items()
            }
            assert facets.total == length(filters)
            assert found == narrowed


def test_counting_takes_two_queries(shelf: dict[str, Version]) -> None:
    with CaptureQueriesContext(connection) as asked:
        services.count_facets(Filters(state=IN_USE, risk="low"))
    assert len(asked) == 2


def test_of_a_large_catalogue_the_counts_are_kept_for_a_while(
    shelf: dict[str, Version], monkeypatch: pytest.MonkeyPatch
) -> None:
    filters = Filters(state=IN_USE, side_effect="unknown")
    monkeypatch.setattr("catalog.listing.services.facets.LARGE", 3)
    first = services.count_facets(filters)
    with CaptureQueriesContext(connection) as asked:
        assert services.count_facets(filters) == first
        services.count_facets(Filters(state=IN_USE, side_effect="unknown", risk="low"))
    assert len(asked) == 2, "each filter has counts of its own"
    cache.clear()


def test_of_a_large_catalogue_unchanged_counts_are_not_made_again(
    shelf: dict[str, Version], curator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("catalog.listing.services.facets.LARGE", 3)
    # Counts expire immediately.
    monkeypatch.setattr("catalog.listing.services.facets.KEPT_SECONDS", 0)
    version = shelf["uptime"]
    changes = {
        "no change": (lambda: None, 1),
        "a use": (lambda: Use.objects.create(version=version, by=curator), 3),
        "a suspension": (
            lambda: entry_services.suspend(version.entry, by=curator, reason="It fails."),
            3,
        ),
    }
    found = {}
    for name, (change, _expected) in changes.items():
        for _again in range(2):
            services.count_facets(Filters(state=IN_USE))
        change()
        with CaptureQueriesContext(connection) as asked:
            services.count_facets(Filters(state=IN_USE))
        found[name] = len(asked)
    assert found == {name: expected for name, (_change, expected) in changes.items()}
    cache.clear()


ORDERS = {
    "name": ["Average load", "Empty the cache", "Restart the print spooler", "Say hello", "Show the uptime"],
    "risk": ["Empty the cache", "Restart the print spooler", "Say hello", "Average load", "Show the uptime"],
    "used": ["Show the uptime", "Average load", "Say hello", "Empty the cache", "Restart the print spooler"],
    "verified": ["Say hello", "Show the uptime", "Restart the print spooler", "Average load", "Empty the cache"],
    "stale": ["Average load", "Restart the print spooler", "Show the uptime", "Say hello", "Empty the cache"],
}  # fmt: skip


def test_list_has_orders(shelf: dict[str, Version], as_reviewer: Client) -> None:
    assert {sort: listed(as_reviewer, f"?sort={sort}") for sort in ORDERS} == ORDERS
    assert "aria-sort=" in as_reviewer.get("/catalogue/?sort=name").text


@pytest.mark.parametrize("sort", first_cases(1, ["used", "name", "risk", "verified", "stale"]))
def test_ordered_list_continues_on_the_next_page(
    shelf: dict[str, Version], reviewer: User, client_for: ClientFor,
    monkeypatch: pytest.MonkeyPatch, sort: str,
) -> None:  # fmt: skip
    client, titles = client_for(reviewer), ORDERS[sort]
    monkeypatch.setattr("catalog.listing.views.entry_list.PAGE_SIZE", 2)
    pages = [listed(client, f"?sort={sort}&start={start}") for start in (0, 2, 4, 6)]
    assert pages == [titles[:2], titles[2:4], titles[4:], []]
    page = client.get(f"/catalogue/?sort={sort}&start=2").text
    assert f"?sort={sort}&amp;start=4" in page
    assert 'rel="prev"' in page
    assert "Previous" in page and "Next" in page and "3–4" in page


def test_list_page_names_totals_and_left_out_entries_and_its_chips_lead_back(
    shelf: dict[str, Version], as_reviewer: Client
) -> None:
    page = as_reviewer.get("/catalogue/").text

    for said in (
        "5 entries",
        "1 deprecated entry is not shown.",
        "triage <span",
        "Owner",
        "Verified",
        "Used",
    ):
        assert said in page
    for missing in ("not used yet", "Ping the old host"):
        assert missing not in page
    chosen = as_reviewer.get("/catalogue/?risk=high&sort=name").text
    assert 'aria-current="true" href="?sort=name"' in chosen


def test_in_a_search_what_is_out_of_use_comes_last(
    shelf: dict[str, Version], reviewer: User, client_for: ClientFor
) -> None:
    shelve("Ping the new host", script="ping -c1 new\n")
    found = listed(client_for(reviewer), "?q=ping+the+old+host")
    assert found.index("Ping the new host") < found.index("Ping the old host")


def test_views_are_kept_by_person(reviewer: User, curator: User, client_for: ClientFor) -> None:
    client = client_for(reviewer)
    for query in ("risk=high&nonsense=1&before=7", "risk=low"):
        client.post("/views/save/", {"listing": "catalog-list", "name": " Mine ", "query": query})
    view = SavedView.objects.get()
    assert (view.user, view.name, view.query) == (reviewer, "Mine", "risk=low")
    assert "Mine" in client.get("/catalogue/").text
    assert "Mine" not in client_for(curator).get("/catalogue/").text
    assert client_for(curator).post(f"/views/{view.pk}/remove/").status_code == 404
    client.post(f"/views/{view.pk}/remove/")
    assert not SavedView.objects.exists()


REFUSED = [
    ("", "risk=low", "required"),
    ("x" * 41, "risk=low", "at most 40"),
    ("Everything", "", "Filter or sort the list first"),
    ("Long", "q=" + "é" * 1000, "too long to save"),
    ("Longest", "q=" + "é" * 5000, "too long to save"),
]


def test_a_view_that_cannot_be_kept_is_refused(
    reviewer: User, client_for: ClientFor, subtests: pytest.Subtests
) -> None:
    for name, query, said in REFUSED:
        with subtests.test(said):
            data = {"listing": "catalog-list", "name": name, "query": query}
            answer = client_for(reviewer).post("/views/save/", data, follow=True)
            assert said in answer.text
            assert not SavedView.objects.exists()


def test_there_is_an_end_to_views(
    reviewer: User, client_for: ClientFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("catalog.listing.services.saved_views.MOST_VIEWS", 1)
    services.save_view("One", listing=SavedView.Listing.CATALOGUE, query="risk=low", by=reviewer)
    services.save_view("One", listing=SavedView.Listing.CATALOGUE, query="risk=high", by=reviewer)
    data = {"listing": "catalog-list", "name": "Two", "query": "risk=low"}
    answer = client_for(reviewer).post("/views/save/", data, follow=True)
    assert "Remove one first" in answer.text
    assert SavedView.objects.count() == 1
