"""Tests that a bulk action shows a preview and then makes exactly the previewed changes."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client

from catalog.entries import services as entry_services
from catalog.listing import services
from catalog.models import Version
from tests.catalog.shelf import ClientFor, shelve

pytestmark = pytest.mark.django_db

ADDRESS = "/catalogue/curation/bulk/"


@pytest.fixture
def shelf(curator: User) -> list[Version]:
    """Return three verified versions and a draft by the curator."""
    return [
        shelve("Task one", script="echo 1\n", tags=["disk"]),
        shelve("Task two", script="echo 2\n"),
        shelve("Task three", script="echo 3\n", author=curator),
        shelve("Task four", script="echo 4\n", state="draft", author=curator),
    ]


def preview(client: Client, shelf: list[Version], deed: str, **typed: str) -> HttpResponse:
    entries = [version.entry_id for version in shelf]
    return client.post(ADDRESS, {"deed": deed, "entries": entries, **typed})


def carry_out(client: Client, page: HttpResponse, deed: str, **typed: str) -> HttpResponse:
    """Press the button on a preview page and return the response."""
    entries = re.findall(
        r'name="entries" value="(\d+)">\s*<input type="hidden" name="seen', page.text
    )
    seen = dict(re.findall(r'name="(seen-\d+)" value="(\w*)"', page.text))
    data = {"deed": deed, "entries": entries, "carry_out": "1", **seen, **typed}
    return client.post(ADDRESS, data)


def test_tags_are_added_where_they_are_new(shelf: list[Version], as_curator: Client) -> None:
    page = preview(as_curator, shelf, "add_tags", tags="disk, nightly")
    assert page.text.count("adds disk, nightly") == 3
    assert page.text.count("adds nightly") == 1
    assert [tag.name for tag in shelf[0].tags.all()] == ["disk"]
    done = carry_out(as_curator, page, "add_tags", tags="disk, nightly")
    assert done.status_code == 302
    for version in shelf:
        assert {tag.name for tag in version.tags.all()} == {"disk", "nightly"}


def test_refused_entries_are_named(shelf: list[Version], curator: User, as_curator: Client) -> None:
    entry_services.deprecate(shelf[1], by=curator, reason="long ago")

    page = preview(as_curator, shelf, "deprecate", note="gone")
    for said in (
        "changes from verified to deprecated; the entry will no longer be offered",
        "changes from draft to deprecated",
        "Version 1 is deprecated.",
        "Apply to 3 entries",
    ):
        assert said in page.text
    done = carry_out(as_curator, page, "deprecate", note="gone")

    assert done.status_code == 200
    assert "Partly done" in done.text
    states = [Version.objects.get(pk=version.pk).state for version in shelf]
    assert states == ["deprecated"] * 4
    assert shelf[0].events.latest("pk").note == "gone"
    assert shelf[1].events.latest("pk").note == "long ago"


def test_what_changed_since_the_preview_is_left_alone(
    shelf: list[Version], second_curator: User, as_curator: Client
) -> None:
    page = preview(as_curator, shelf[:2], "add_tags", tags="nightly")
    entry_services.set_details(shelf[0], by=second_curator, tags=["theirs"], links=[], owner=None)
    done = carry_out(as_curator, page, "add_tags", tags="nightly")
    assert "Another user changed this entry after the preview" in done.text
    assert [tag.name for tag in shelf[0].tags.all()] == ["theirs"]
    assert [tag.name for tag in shelf[1].tags.all()] == ["nightly"]


def test_verified_again_they_carry_the_name_and_the_day_of_who_did_it(
    shelf: list[Version], curator: User, as_curator: Client
) -> None:
    before = [version.verified_at for version in shelf[:3]]

    page = preview(as_curator, shelf[:3], "verify_again")
    assert "You wrote version 1, so another curator has to verify it." in page.text
    carry_out(as_curator, page, "verify_again")

    after = [Version.objects.get(pk=version.pk) for version in shelf[:3]]
    assert [version.verified_by for version in after] == [curator, curator, None]
    assert [new.verified_at != old for new, old in zip(after, before, strict=True)] == [
        True,
        True,
        False,
    ]
    assert after[0].events.latest("pk").new == "verified"
    assert {row.slug for row in services.list_entries(
        services.Filters(age="once"), among=shelf[0].entry.__class__.objects.all())
    } == {shelf[2].entry.slug}  # fmt: skip


def test_drafts_are_submitted_and_owners_set(
    shelf: list[Version], curator: User, reviewer: User, client_for: ClientFor
) -> None:
    client = client_for(curator)
    page = preview(client, shelf, "submit")
    assert page.text.count("Version 1 is verified.") == 3
    carry_out(client, page, "submit")
    carry_out(client, preview(client, shelf, "set_owner", owner="rita"), "set_owner", owner="rita")
    assert Version.objects.get(pk=shelf[3].pk).state == "in_review"
    assert set(Version.objects.values_list("owner", flat=True)) == {reviewer.pk}


def test_all_that_fit_the_filters_are_chosen(shelf: list[Version], as_curator: Client) -> None:
    page = as_curator.post(
        ADDRESS, {"deed": "remove_tags", "tags": "disk", "fits": "state=verified"}
    )
    assert "3 entries selected" in page.text
    assert page.text.count("removes disk") == 1
    assert page.text.count("Has none of these tags.") == 2


NO_ORDERS = [
    ({"deed": "add_tags", "tags": "<b>"}, 422, "tags"),
    ({"deed": "add_tags"}, 422, "Enter at least one tag"),
    ({"deed": "deprecate"}, 422, "be empty"),
    ({"deed": "set_owner", "owner": "x"}, 422, "No active user has this username"),
    ({"deed": "explode"}, 422, "valid choice"),
]


def test_an_order_that_is_none_changes_nothing(
    shelf: list[Version], curator: User, client_for: ClientFor, subtests: pytest.Subtests
) -> None:
    for data, status, said in NO_ORDERS:
        with subtests.test(said):
            entries = [version.entry_id for version in shelf]
            page = client_for(curator).post(ADDRESS, {**data, "entries": entries, "carry_out": "1"})
            assert page.status_code == status
            assert said in page.text
            assert Version.objects.filter(state="verified").count() == 3


def test_the_first_look_asks_for_what_is_missing(shelf: list[Version], as_curator: Client) -> None:
    page = preview(as_curator, shelf, "add_tags", deed_chosen="1")
    assert page.status_code == 200
    assert 'name="tags"' in page.text
    assert "Enter at least one tag" not in page.text


def test_order_without_entries_leads_back(curator: User, client_for: ClientFor) -> None:
    assert client_for(curator).post(ADDRESS, {"deed": "submit"}).status_code == 302
