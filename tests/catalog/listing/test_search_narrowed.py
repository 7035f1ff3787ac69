"""Tests that a filtered search finds entries even if many others are closer to the query."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoAssertNumQueries

from catalog.listing.services import search
from catalog.listing.services.search import Filters, search_entries
from catalog.listing.views.entry_list import FACETS
from catalog.models import Entry, Version
from catalog.retrieval import vector_search
from tests.catalog.shelf import ClientFor, shelve

pytestmark = pytest.mark.django_db

SPOOLER = "Restart the print spooler"


@pytest.fixture
def far(monkeypatch: pytest.MonkeyPatch) -> Version:
    """Return an entry that is less similar than four others, and make the search read two candidates at a time."""
    monkeypatch.setattr(search, "CANDIDATES", 2)
    for number in range(4):
        shelve(f"{SPOOLER} {number}", script=f"echo {number}\n", tags=["near"])
    return shelve("Restart the spooler of the printer", script="date\n", tags=["rare"])


def titles(query: str, **filters: str) -> list[str]:
    return [entry.title for entry in search_entries(query, filters=Filters(**filters)).entries]


def test_narrow_filter_finds_far_entries(far: Version, monkeypatch: pytest.MonkeyPatch) -> None:
    assert far.entry.title not in titles(SPOOLER)
    assert titles(SPOOLER, tag="rare") == [far.entry.title]
    assert titles("spooler of a printer that hangs", tag="rare") == [far.entry.title]
    assert titles("unthinkable", tag="rare") == []
    assert titles(SPOOLER, tag="unheard-of") == []
    monkeypatch.setattr(search, "NARROW", 0)
    monkeypatch.setattr(search, "WIDE_CANDIDATES", 5)
    assert titles(SPOOLER, tag="rare") == [far.entry.title]


def test_best_entries_come_first(far: Version, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "CANDIDATES", 9)
    filters = Filters(tag="near")
    all_found = search_entries(f"{SPOOLER} 3", filters=filters).entries
    assert all_found[0].title == f"{SPOOLER} 3"
    assert len(all_found) == 4
    assert search_entries(f"{SPOOLER} 3", filters=filters, limit=2).entries == all_found[:2]


def test_among_few_what_is_not_verified_is_found_by_meaning(far: Version) -> None:
    draft = shelve("Bounce the printer's spooling daemon", state="draft", script="true\n")
    assert titles("bounce the spooler", state="draft") == [draft.entry.title]


def test_the_nearest_among_some_are_the_nearest_of_those(far: Version) -> None:
    keys = list(Entry.objects.values_list("pk", flat=True))
    meaning = vector_search.embed_query(SPOOLER)
    assert meaning.find_among([far.entry_id], limit=5)[0].entry_id == far.entry_id
    everything = meaning.find_among(keys, limit=5)
    assert [hit.cosine for hit in everything] == sorted(
        (hit.cosine for hit in everything), reverse=True
    )
    assert set(everything) == set(meaning.find(limit=5))


@pytest.mark.parametrize("narrow", [3_000, 0], ids=["few are left", "many are left"])
def test_the_number_of_queries_does_not_grow(
    far: Version,
    narrow: int,
    monkeypatch: pytest.MonkeyPatch,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    monkeypatch.setattr(search, "NARROW", narrow)
    monkeypatch.setattr(search, "CANDIDATES", 9)
    monkeypatch.setattr(search, "WIDE_CANDIDATES", 9)
    with CaptureQueriesContext(connection) as few:
        assert len(search_entries(SPOOLER, filters=Filters(tag="near")).entries) == 4
    for number in range(3):
        shelve(f"{SPOOLER} once more {number}", script=f"id {number}\n", tags=["near"])
    with django_assert_num_queries(len(few)):
        assert len(search_entries(SPOOLER, filters=Filters(tag="near")).entries) == 7


def test_search_offers_every_filter_and_keeps_the_chosen_ones(
    curator: User, client_for: ClientFor
) -> None:
    shelve("Show how long the machine has been up", tags=("uptime", "host"), owner=curator)
    client = client_for(curator)
    listed = client.get("/catalogue/", {"risk": "low"}).text
    page = client.get("/catalogue/", {"q": "uptime", "risk": "low", "tag": "uptime"}).text
    for name in FACETS:
        assert f'id="facet-{name}"' in page, name
    for value in re.findall(r'href="\?[^"]*\bside_effect=(\w+)', listed):
        assert re.search(rf'href="\?q=uptime[^"]*tag=uptime[^"]*side_effect={value}', page), value
    assert 'name="risk" value="low"' in page and 'name="tag" value="uptime"' in page
    assert re.search(r'href="\?q=uptime[^"]*tag=host', page)
