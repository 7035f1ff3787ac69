"""Tests that curators change entries, versions and tags in the admin site only through the services."""

from __future__ import annotations

import pytest
from auditlog.models import LogEntry
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from catalog.entries import services as entry_services
from catalog.listing import services as listing
from catalog.models import Entry, Tag, Version
from tests import people
from tests.catalog.shelf import PLAIN, shelve
from tests.query_counts import count_queries

client = people.as_curator

pytestmark = pytest.mark.django_db
INLINES = {
    f"{prefix}-{name}": "0"
    for prefix in ("versions", "phrasings")
    for name in ("TOTAL_FORMS", "INITIAL_FORMS", "MIN_NUM_FORMS", "MAX_NUM_FORMS")
}


def events() -> list[tuple[str, str]]:
    rows = LogEntry.objects.order_by("pk").values_list("additional_data__event", "actor__username")
    return [(event, who) for event, who in rows if event]


def act(client: Client, model: str, name: str, *rows: object, **typed: str) -> str:
    """Choose an admin action for these rows. If form values are given, apply the action."""
    data = {"action": name, "_selected_action": [row.pk for row in rows], **typed}
    if typed:
        data["apply"] = "yes"
    return client.post(f"/admin/catalog/{model}/", data, follow=True).text


@pytest.mark.slow
def test_administrator_opens_every_list_and_record_and_changes_nothing(
    administrator: User, as_administrator: Client
) -> None:
    version = shelve(tags=["a"])
    entry_services.record_use(version, by=administrator, values={})
    for model in filter(admin.site.is_registered, apps.get_app_config("catalog").get_models()):
        name = f"admin:catalog_{model._meta.model_name}"
        assert as_administrator.get(reverse(f"{name}_changelist"), {"q": "x"}).status_code == 200
        assert as_administrator.get(reverse(f"{name}_add")).status_code == 403
        for row in model._default_manager.all()[:1]:
            address = reverse(f"{name}_change", args=[row.pk])
            assert as_administrator.get(address).status_code == 200
            assert as_administrator.post(address, {}).status_code == 403
    page = as_administrator.get("/admin/catalog/entry/").text
    assert "/catalogue/export/" in page and "/catalogue/imports/" not in page


def test_an_entry_is_written_by_the_service(client: Client, curator: User) -> None:
    form = {"title": "Tell the date", "script": "date\n", "wordings": "What day is it?", **INLINES}
    answer = client.post("/admin/catalog/entry/add/", form)
    assert answer.status_code == 302, answer.text
    version = Version.objects.get()
    assert (version.state, version.author, version.side_effect) == ("draft", curator, "read_only")
    assert version.entry.phrasings.count() == 2
    assert ("entry created", "carla") in events()


def test_a_refusal_is_shown_at_its_field_and_nothing_typed_is_lost(client: Client) -> None:
    shelve("Show the uptime")
    answer = client.post(
        "/admin/catalog/entry/add/",
        {"title": "Uptime, please", "script": PLAIN, "wordings": "", **INLINES},
    )
    assert answer.status_code == 422
    assert "already has this script" in answer.text
    assert "Uptime, please" in answer.text
    assert Entry.objects.count() == 1


def test_entry_is_renamed_unless_somebody_was_faster(client: Client, second_curator: User) -> None:
    entry = shelve("Show the uptime").entry
    address = f"/admin/catalog/entry/{entry.pk}/change/"
    form = {"title": "Since when is it up?", "seen": "Show the uptime", **INLINES}
    assert client.post(address, form).status_code == 302
    entry.refresh_from_db()
    assert entry.title == "Since when is it up?"
    entry_services.rename(entry, title="Uptime", by=second_curator)
    stale = client.post(address, {**form, "title": "Tell the uptime", "seen": entry.title + "x"})
    assert stale.status_code == 409
    assert "Another user has renamed this entry" in stale.text and "Tell the uptime" in stale.text


def test_entries_are_found_by_words_and_filters(client: Client) -> None:
    shelve("List files older than 30 days", tags=["files"])
    shelve("Show the uptime", script="uptime -p\n", state="draft", author=None)

    def listed(**query: str) -> str:
        return client.get("/admin/catalog/entry/", query).text

    for query in ({"q": "old files"}, {"state": "verified"}, {"tag": "files"}):
        page = listed(**query)
        assert "List files older" in page and "Show the uptime" not in page
    assert "Show the uptime" in listed(q="show-the-uptime")
    assert "List files" not in listed(suspended="yes")
    assert "List files" in listed(risk="low", side_effect="read_only", suspended="no")


def test_the_versions_of_an_entry_stand_on_its_page_to_be_read(client: Client) -> None:
    version = shelve("Show the uptime")
    page = client.get(f"/admin/catalog/entry/{version.entry_id}/change/").text
    assert "set -euo pipefail" in page
    assert f"/admin/catalog/version/{version.pk}/change/" in page
    assert 'name="versions-0-script"' not in page


def test_an_entry_is_suspended_with_a_reason(client: Client) -> None:
    entry = shelve().entry
    assert "What will happen" in act(client, "entry", "suspend", entry)
    assert "This field is required" in act(client, "entry", "suspend", entry, reason="")
    act(client, "entry", "suspend", entry, reason="INC-7")
    entry.refresh_from_db()
    assert entry.suspended_why == "INC-7"
    assert ("entry suspended", "carla") in events()


def test_bulk_verify_needs_four_eyes(client: Client, curator: User, second_curator: User) -> None:
    own = shelve("Own", script="id\n", state="in_review", author=curator)
    other = shelve("Other", script="df\n", state="in_review", author=second_curator)
    draft = shelve("Old", script="ls\n", state="deprecated")

    preview = act(client, "version", "verify", own, other, draft)
    assert "another curator has to verify it" in preview
    assert Version.objects.filter(state="verified").count() == 0
    assert ("verified", "carla") not in events()
    done = act(client, "version", "verify", own, other, draft, note="looked at")

    assert "“Verify” applied to 1 row." in done
    assert "another curator has to verify it" in done and "t become verified" in done
    states = dict(Version.objects.values_list("entry__title", "state"))
    assert states == {"Own": "in_review", "Other": "verified", "Old": "deprecated"}
    assert events().count(("verified", "carla")) == 1


MOVES = [
    ("submit", "draft", {"note": "please"}, "in_review"),
    ("send_back", "in_review", {"reason": "no check"}, "draft"),
    ("deprecate", "verified", {"reason": "old"}, "deprecated"),
    ("verify_again", "verified", {"note": "still good"}, "verified"),
]


def test_version_moves_by_its_service(client: Client) -> None:
    for name, state, typed, after in MOVES:
        version = shelve(state=state)
        act(client, "version", name, version, **typed)
        version.refresh_from_db()
        event = version.events.latest("pk")
        assert (version.state, event.by.username) == (after, "carla"), name
        assert event.note == next(iter(typed.values()))


def test_another_script_is_a_new_version(client: Client, curator: User) -> None:
    version = shelve("Show the uptime", undo="none")
    page = client.get("/admin/catalog/version/add/", {"entry": "show-the-uptime"}).text
    assert "set -euo pipefail" in page and 'name="seen" value="1"' in page
    form = {
        "entry_slug": "show-the-uptime",
        "script_text": "uptime -p\r\n",
        "note": "short",
        "seen": "1",
    }

    assert client.post("/admin/catalog/version/add/", form).status_code == 302
    newer = version.entry.versions.get(number=2)
    assert (newer.script, newer.undo, newer.state, newer.author) == (
        "uptime -p\n",
        "none",
        "draft",
        curator,
    )
    stale = client.post("/admin/catalog/version/add/", {**form, "script_text": "uptime -s\n"})

    assert stale.status_code == 409
    assert "in the meantime. Review it first." in stale.text and "uptime -s" in stale.text


def test_labels_change_without_a_new_version(client: Client, reviewer: User) -> None:
    version = shelve(tags=["a"])
    address = f"/admin/catalog/version/{version.pk}/change/"
    form = {"tag_names": "a, b", "owner_name": "rita", "link_lines": "", "seen": ""}

    assert client.post(address, form).status_code == 302
    version.refresh_from_db()
    assert sorted(tag.name for tag in version.tags.all()) == ["a", "b"]
    assert version.owner == reviewer
    for wrong in ({"owner_name": "nobody"}, {"tag_names": "Not A Tag"}, {"link_lines": "a | b"}):
        answer = client.post(address, {**form, **wrong})
        assert answer.status_code in (200, 422)
        assert "errorlist" in answer.text
    assert ("details changed", "carla") in events()


def test_the_text_of_a_version_cannot_be_changed(client: Client) -> None:
    version = shelve()

    client.post(
        f"/admin/catalog/version/{version.pk}/change/",
        {
            "tag_names": "",
            "owner_name": "",
            "link_lines": "",
            "script": "rm -rf /",
            "state": "draft",
        },
    )

    version.refresh_from_db()
    assert (version.script, version.state) == (PLAIN, "verified")


def test_a_tag_is_renamed_wherever_it_is(client: Client) -> None:
    version = shelve(tags=["log"])
    tag = Tag.objects.get()
    assert client.post(f"/admin/catalog/tag/{tag.pk}/change/", {"name": "logs"}).status_code == 302
    assert [tag.name for tag in version.tags.all()] == ["logs"]
    refused = client.post(f"/admin/catalog/tag/{tag.pk}/change/", {"name": "Logs"})
    assert refused.status_code == 422
    assert ("tag renamed", "carla") in events()


def test_tags_are_merged(client: Client) -> None:
    both = shelve("Both", tags=["log", "logs"])
    one = shelve("One", script="df\n", tags=["log"])
    log, logs = Tag.objects.order_by("name")
    act(client, "tag", "merge", log, into=str(logs.pk))
    assert list(Tag.objects.all()) == [logs]
    assert [list(version.tags.all()) for version in (both, one)] == [[logs], [logs]]
    assert listing.search_entries("logs").entries
    assert "merged into itself" in act(client, "tag", "merge", logs, into=str(logs.pk))


def test_a_tag_is_made_and_deleted(client: Client) -> None:
    assert client.post("/admin/catalog/tag/add/", {"name": "disk"}).status_code == 302
    tag = Tag.objects.get()
    assert client.post(f"/admin/catalog/tag/{tag.pk}/delete/", {"post": "yes"}).status_code == 302
    assert not Tag.objects.exists()
    assert [event for event, _who in events()] == ["tag created", "tag deleted"]


@pytest.mark.slow
def test_list_queries_do_not_grow(client: Client, curator: User, second_curator: User) -> None:
    addresses = [f"/admin/catalog/{model}/" for model in ("entry", "version", "tag")]

    def count(numbers: range) -> list[int]:
        for number in numbers:
            shelve(
                f"Entry {number}", script=f"echo {number}\n", author=curator, verified_by=second_curator,
                tags=[f"t{number}"],
            )  # fmt: skip
        return [count_queries(client, address) for address in addresses]

    count(range(2))
    few = count(range(0))

    assert count(range(2, 9)) == few


def test_entry_page_queries_are_fixed(client: Client, curator: User, second_curator: User) -> None:
    version = shelve("Show the uptime", author=curator, verified_by=second_curator)
    address = f"/admin/catalog/entry/{version.entry_id}/change/"

    count_queries(client, address)
    few = count_queries(client, address)
    for number in range(4):
        newest = version.entry.versions.latest("number")
        details = entry_services.details_of(newest)
        entry_services.edit_version(
            newest, script=f"echo {number}\n", details=details, by=second_curator
        )
        entry_services.add_phrasing(version.entry, text=f"Wording {number}", by=curator)

    assert count_queries(client, address) == few
