"""Tests that if two curators change an entry at the same time, the second sees what changed and who changed it."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.db import connection

from catalog.entries import services
from catalog.entries.services.versions import labels_seen
from catalog.models import Entry, Version
from core.errors import NotAllowedNow
from tests.catalog.entries.test_edit import form
from tests.catalog.shelf import PLAIN, ClientFor, shelve
from tests.people import make_person

NO_PARAMETER = {"parameters-0-name": ""}
Deed = Callable[[User], object]


def at_once(*deeds: Deed, role: str = "curator") -> list[str]:
    """Run all actions at the same moment, each as a different user, and return the sorted error messages."""
    people = [make_person(name, role) for name in ("carla", "curt")]
    barrier = threading.Barrier(len(deeds))
    said: list[str] = []

    def work(deed: Deed, by: User) -> None:
        try:
            barrier.wait()
            deed(by)
            said.append("")
        except NotAllowedNow as refusal:
            said.append(str(refusal))
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=pair) for pair in zip(deeds, people, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(said) == len(deeds), "a deed failed with something else than a refusal"
    return sorted(said)


@pytest.mark.django_db(transaction=True)
class TestAtOnce:
    def test_of_two_edits_one_is_kept_and_the_other_is_told_who_was_faster(self) -> None:
        version = shelve()
        details = services.details_of(version)

        def edit(by: User) -> None:
            services.edit_version(
                version, script=f"echo {by.username}\n", details=details, by=by, note="mine"
            )

        won, refused = at_once(edit, edit)

        newest = version.entry.versions.latest("number")
        assert (won, newest.number) == ("", 2)
        assert refused.endswith(" saved version 2 in the meantime. Review it first.")
        assert newest.author is not None
        assert newest.author.first_name in refused

    def test_of_two_verifications_one_counts(self) -> None:
        version = shelve(state="in_review")

        def verify(by: User) -> None:
            services.verify(Version.objects.get(pk=version.pk), by=by)

        won, refused = at_once(verify, verify)

        version.refresh_from_db()
        assert (won, version.state) == ("", "verified")
        assert version.verified_by is not None
        assert f"{version.verified_by.first_name} changed the state to verified at" in refused
        assert version.events.filter(new="verified").count() == 1

    def test_what_is_verified_and_sent_back_at_once_is_one_of_both(self) -> None:
        version = shelve(state="in_review")

        won, refused = at_once(
            lambda by: services.verify(Version.objects.get(pk=version.pk), by=by),
            lambda by: services.send_back(
                Version.objects.get(pk=version.pk), by=by, reason="not yet"
            ),
        )

        # If the version was sent back first, it can still be verified. Then neither action fails, and both events are
        # logged.
        states = list(version.events.values_list("new", flat=True))
        version.refresh_from_db()
        assert won == ""
        assert version.state == "verified"
        assert ("draft" in states) == (refused == "")
        assert refused == "" or "changed the state to verified at" in refused

    def test_of_two_who_set_tags_the_second_sees_the_first_ones(self) -> None:
        version = shelve(tags=["old"])
        seen = labels_seen(version)

        def tag(by: User) -> None:
            services.set_details(
                version, by=by, tags=[by.username], links=[], owner=None, seen=seen
            )

        won, refused = at_once(tag, tag)

        [kept] = [tag.name for tag in version.tags.all()]
        assert won == ""
        assert f"tags {kept}" in refused

    def test_of_two_titles_one_is_kept(self) -> None:
        entry = shelve().entry

        def rename(by: User) -> None:
            services.rename(entry, title=f"Title by {by.username}", by=by, seen=entry.title)

        won, refused = at_once(rename, rename)

        assert won == ""
        assert Entry.objects.get().title in refused

    def test_of_two_suspensions_one_is_kept(self) -> None:
        entry = shelve().entry

        def suspend(by: User) -> None:
            services.suspend(entry, by=by, reason=f"seen by {by.username}")

        won, refused = at_once(suspend, suspend)

        assert won == ""
        assert Entry.objects.get().suspended_why in refused


@pytest.mark.django_db
class TestOnThePage:
    def test_the_edit_page_shows_what_the_other_changed_and_keeps_what_was_typed(
        self, curator: User, second_curator: User, client_for: ClientFor
    ) -> None:
        version = shelve()
        details = services.details_of(version).model_copy(update={"undo": "stop it", "tools": None})
        newer = services.edit_version(
            version, script=PLAIN + "df -h\n", details=details, by=second_curator
        )
        client = client_for(curator)

        page = client.post(
            f"/catalogue/versions/{version.pk}/edit/",
            form(script="du -s\r\n", note="mine", **NO_PARAMETER),
        )

        assert page.status_code == 409
        for said in (
            "Curt saved version 2 in the meantime",
            "Changes by Curt in version 2",
            "stop it",
            f'action="/catalogue/versions/{newer.pk}/edit/"',
            'value="mine"',
            "du -s",
        ):
            assert said in page.text
        assert version.entry.versions.count() == 2

        typed = form(script="du -s\r\n", note="mine", **NO_PARAMETER)
        assert client.post(f"/catalogue/versions/{newer.pk}/edit/", typed).status_code == 302
        assert version.entry.versions.latest("number").script == "du -s\n"

    def test_tags_set_in_view_of_what_the_other_did_are_saved(
        self, curator: User, second_curator: User, client_for: ClientFor
    ) -> None:
        version = shelve(tags=["old"])
        seen = labels_seen(version)
        services.set_details(version, by=second_curator, tags=["disk"], links=[], owner=None)
        client, address = client_for(curator), f"/catalogue/versions/{version.pk}/labels/"

        refused = client.post(address, {"tags": "mine", "owner": "", "links": "", "seen": seen})

        assert refused.status_code == 409
        assert "Current values: tags disk" in refused.text
        assert 'value="mine"' in refused.text
        now = labels_seen(Version.objects.get())
        assert f'name="seen" value="{now}"' in refused.text
        again = client.post(address, {"tags": "mine", "owner": "", "links": "", "seen": now})
        assert again.status_code == 302
        assert [tag.name for tag in version.tags.all()] == ["mine"]

    def test_going_back_to_an_old_version_shows_the_difference_first(
        self, curator: User, client_for: ClientFor
    ) -> None:
        version = shelve(undo="nothing")
        details = services.details_of(version).model_copy(update={"undo": "stop it", "tools": None})
        services.edit_version(version, script=PLAIN + "df -h\n", details=details, by=curator)
        page = client_for(curator).get(f"/catalogue/{version.entry.slug}/history/?from=2&to=1")
        assert "how to undo" in page.text
        assert "stop it" in page.text
