"""Tests for merging two entries and undoing the merge."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from catalog.calibration import services as calibration
from catalog.curation import services
from catalog.curation.services.duplicates import compare_entries
from catalog.entries import services as entry_services
from catalog.listing import services as listing
from catalog.models import Entry, Merge, NearDuplicate, Version
from catalog.retrieval import services as retrieval
from core.errors import NotAllowedNow, Stale
from tests.catalog.entries.test_two_curators import at_once
from tests.catalog.shelf import PLAIN, SCRIPT, ClientFor, shelve
from tests.query_counts import count_queries

STATEMENT = "Say how long the machine has been up"


@pytest.fixture
def target(db: None) -> Version:
    return shelve("Print the uptime", phrasings=["How long is it up?"])


@pytest.fixture
def source(target: Version) -> Version:
    return shelve(
        STATEMENT, script="uptime -p\n", phrasings=["How long is it up?", "Since when does it run?"]
    )


def test_the_wordings_move_and_the_other_entry_answers(
    source: Version, target: Version, curator: User, reviewer: User
) -> None:
    use = entry_services.record_use(source, by=reviewer, values={}).use
    calibration.label_match(STATEMENT, version=source, label="match", by=reviewer)
    assert retrieval.retrieve(STATEMENT).matches[0].entry == source.entry.slug

    services.merge_entries(source.entry, target=target.entry, by=curator, note="the same")

    assert [phrasing.text for phrasing in target.entry.phrasings.all()] == [
        "Print the uptime",
        "How long is it up?",
        STATEMENT,
        "Since when does it run?",
    ]
    assert retrieval.retrieve(STATEMENT).matches[0].entry == target.entry.slug
    source.refresh_from_db()
    assert source.state == "deprecated"
    assert (use.version, source.labels.count()) == (source, 1)
    assert source.entry.slug not in {row.slug for row in listing.search_entries(STATEMENT).entries}


def test_who_opens_it_comes_to_the_other_entry_and_its_history_stays(
    source: Version, target: Version, curator: User, as_reviewer: Client
) -> None:
    services.merge_entries(source.entry, target=target.entry, by=curator)
    address = f"/catalogue/{source.entry.slug}/"
    assert as_reviewer.get(address)["Location"] == f"/catalogue/{target.entry.slug}/"
    old = as_reviewer.get(f"{address}?version=1")
    assert "This entry was merged into" in old.text
    assert as_reviewer.get(f"{address}history/").status_code == 200
    assert STATEMENT in as_reviewer.get(f"/catalogue/{target.entry.slug}/").text
    assert as_reviewer.get("/catalogue/?state=merged").text.count("row-title") == 1


def test_merge_does_what_preview_says(source: Version, target: Version, as_curator: Client) -> None:
    address = f"/catalogue/{source.entry.slug}/merge/?into={target.entry.slug}"
    page = as_curator.get(address)
    for said in (STATEMENT, "How long is it up?", "version 1, verified"):
        assert said in page.text
    assert not Merge.objects.exists()
    seen = services.plan_merge(source.entry, target=target.entry).seen
    done = as_curator.post(address, {"seen": seen, "note": "one thing"})
    assert done["Location"] == f"/catalogue/{target.entry.slug}/"
    assert Merge.objects.get().note == "one thing"


def test_undone_both_are_what_they_were(
    source: Version, target: Version, curator: User, as_curator: Client
) -> None:
    verified_at = source.verified_at
    merge = services.merge_entries(source.entry, target=target.entry, by=curator)
    entry_services.add_phrasing(target.entry, text="Added meanwhile", by=curator)
    assert "Undo merge" in as_curator.get(f"/catalogue/{target.entry.slug}/").text

    response = as_curator.post(f"/catalogue/curation/merges/{merge.pk}/undo/")

    assert response["Location"] == f"/catalogue/{source.entry.slug}/"
    source.refresh_from_db()
    assert (source.state, source.verified_at) == ("verified", verified_at)
    assert sorted(phrasing.text for phrasing in source.entry.phrasings.all()) == [
        "How long is it up?",
        STATEMENT,
        "Since when does it run?",
    ]
    assert source.entry.phrasings.get(source="title").text == STATEMENT
    assert {phrasing.text for phrasing in target.entry.phrasings.all()} == {
        "Print the uptime",
        "How long is it up?",
        "Added meanwhile",
    }
    assert retrieval.retrieve(STATEMENT).matches[0].entry == source.entry.slug
    with pytest.raises(NotAllowedNow, match="Carla has already undone"):
        services.undo_merge(merge, by=curator)


@pytest.mark.slow
def test_a_merged_entry_is_changed_no_more_and_says_who_merged_it(
    source: Version, target: Version, curator: User, as_curator: Client
) -> None:
    services.merge_entries(source.entry, target=target.entry, by=curator)
    deeds = [
        (f"/catalogue/versions/{source.pk}/submit/", {"note": ""}),
        (f"/catalogue/versions/{source.pk}/revert/", {"note": ""}),
        (f"/catalogue/versions/{source.pk}/labels/", {"tags": "a", "owner": "", "links": ""}),
        (f"/catalogue/{source.entry.slug}/suspend/", {"reason": "no"}),
        (f"/catalogue/{source.entry.slug}/rename/", {"title": "Another"}),
        (f"/catalogue/{source.entry.slug}/phrasing/", {"text": "Another"}),
    ]

    for address, data in deeds:
        refused = as_curator.post(address, data)
        assert refused.status_code == 409, address
    with pytest.raises(NotAllowedNow, match='Carla merged this entry into "Print the uptime"'):
        entry_services.suspend(source.entry, by=curator, reason="no")
    assert source.entry.versions.count() == 1


def test_merge_that_loses_an_answer_fails(source: Version, target: Version, curator: User) -> None:
    draft = shelve("A draft of it", script=SCRIPT, state="draft").entry
    entry = source.entry
    with pytest.raises(NotAllowedNow, match="has no verified version"):
        services.merge_entries(entry, target=draft, by=curator)
    with pytest.raises(NotAllowedNow, match="itself"):
        services.merge_entries(entry, target=entry, by=curator)
    entry_services.suspend(target.entry, by=curator, reason="broken")
    with pytest.raises(NotAllowedNow, match="suspended"):
        services.merge_entries(entry, target=Entry.objects.get(pk=target.entry_id), by=curator)
    assert not Merge.objects.exists()


def test_what_changed_since_the_preview_is_not_merged(
    source: Version, target: Version, curator: User, client_for: ClientFor
) -> None:
    seen = services.plan_merge(source.entry, target=target.entry).seen
    entry_services.add_phrasing(source.entry, text="One more", by=curator)

    with pytest.raises(Stale):
        services.merge_entries(source.entry, target=target.entry, by=curator, seen=seen)
    page = client_for(curator).post(
        f"/catalogue/{source.entry.slug}/merge/?into={target.entry.slug}",
        {"seen": seen, "note": "typed"},
    )

    assert page.status_code == 409
    for text in ("One of the entries has changed", "typed", "One more"):
        assert text in page.text


def test_what_is_approved_for_a_merged_entry_goes_to_the_one_that_stands(
    source: Version, target: Version, curator: User, reviewer: User
) -> None:
    services.merge_entries(source.entry, target=target.entry, by=curator)
    version = entry_services.publish(
        statement="Uptime in seconds", script="cat /proc/uptime\n", by=reviewer, author=None,
        verified=True, provenance={"run": 1}, entry=source.entry,
    )  # fmt: skip
    assert version.entry == target.entry


class TestNearDuplicates:
    def test_near_duplicates_are_listed_once(self, target: Version, source: Version) -> None:
        twin = shelve("Report the uptime", script=PLAIN, state="in_review")
        other = shelve("Restart the print spooler", script="systemctl restart cups\n")

        assert services.to_compare().count() == 4
        assert compare_all() == 4

        pairs = {
            (pair.first_id, pair.second_id): pair for pair in NearDuplicate.objects.to_look_at()
        }
        same = pairs[target.entry_id, twin.entry_id]
        assert (same.likeness, same.same_script) == (1.0, True)
        assert not any(other.entry_id in pair for pair in pairs)
        assert not services.to_compare().exists()

    @pytest.mark.django_db
    def test_other_literals_are_another_thing(self) -> None:
        shelve("Delete files older than 7 days in /tmp", script="find /tmp -mtime +7 -delete\n")
        shelve("Delete files older than 30 days in /var", script="find /var -mtime +30 -delete\n")
        compare_all()
        assert not NearDuplicate.objects.exists()

    def test_dismissed_they_are_not_listed_again(
        self, target: Version, curator: User, second_curator: User, client_for: ClientFor
    ) -> None:
        twin = shelve("Report the uptime", script=PLAIN, state="in_review")
        compare_all()
        pair = NearDuplicate.objects.get()
        client, address = client_for(curator), "/catalogue/curation/duplicates/"
        assert twin.entry.title in client.get(address).text

        client.post(f"{address}{pair.pk}/dismiss/")
        entry_services.add_phrasing(twin.entry, text="Changed", by=curator)
        compare_all()

        assert not NearDuplicate.objects.to_look_at().exists()
        with pytest.raises(NotAllowedNow, match="Carla has already reviewed"):
            services.dismiss_pair(pair, by=second_curator)

    def test_a_pair_that_is_none_any_more_goes(self, target: Version, curator: User) -> None:
        twin = shelve("Report on the disks", script=PLAIN, state="in_review")
        compare_all()
        assert NearDuplicate.objects.to_look_at().count() == 1
        entry_services.edit_version(
            twin, script="df -h\n", by=curator,
            details=entry_services.details_of(twin).model_copy(update={"tools": None}),
        )  # fmt: skip
        entry_services.deprecate(twin, by=curator, reason="no longer")
        compare_all()
        assert not NearDuplicate.objects.to_look_at().exists()

    def test_merged_a_pair_is_decided(
        self, target: Version, curator: User, client_for: ClientFor
    ) -> None:
        twin = shelve("Report the uptime", script=PLAIN, state="in_review")
        compare_all()
        merge = services.merge_entries(twin.entry, target=target.entry, by=curator)
        assert NearDuplicate.objects.get().state == "merged"
        services.undo_merge(merge, by=curator)
        assert NearDuplicate.objects.get().state == "open"

    def test_the_number_of_queries_does_not_grow(
        self, target: Version, curator: User, reviewer: User, client_for: ClientFor
    ) -> None:
        client, address = client_for(curator), "/catalogue/curation/duplicates/"
        shelve("Report the uptime", script=PLAIN, state="in_review")
        compare_all()
        client.get(address)
        few = count_queries(client, address)
        for number in range(3):
            shelve(f"Report the uptime {number}", script=PLAIN, state="in_review")
        compare_all()

        assert NearDuplicate.objects.to_look_at().count() > 3
        assert count_queries(client, address) == few <= 20
        assert client_for(reviewer).get(address).status_code == 403


@pytest.mark.django_db(transaction=True)
class TestAtOnce:
    @pytest.mark.slow
    def test_of_two_merges_of_one_entry_one_is_done(self) -> None:
        source = shelve("Tell the uptime", script="uptime -p\n").entry
        targets = [shelve("Print the uptime").entry, shelve("Show it", script="uptime -s\n").entry]
        won, refused = at_once(
            lambda by: services.merge_entries(source, target=targets[0], by=by),
            lambda by: services.merge_entries(source, target=targets[1], by=by),
        )
        assert won == ""
        assert f"{Merge.objects.get().by.first_name} has already merged" in refused

    @pytest.mark.slow
    def test_two_entries_are_not_merged_into_each_other(self) -> None:
        one, other = shelve("Tell the uptime", script="uptime -p\n").entry, shelve().entry
        won, refused = at_once(
            lambda by: services.merge_entries(one, target=other, by=by),
            lambda by: services.merge_entries(other, target=one, by=by),
        )
        assert won == ""
        assert "merged" in refused
        assert Entry.objects.exclude(merged_into=None).count() == 1

    @pytest.mark.slow
    def test_an_edit_and_a_merge_one_wins(self) -> None:
        version, target = shelve("Tell the uptime", script="uptime -p\n"), shelve()
        details = entry_services.details_of(version)

        said = at_once(
            lambda by: entry_services.edit_version(
                version, script="uptime -s\n", details=details, by=by
            ),
            lambda by: services.merge_entries(version.entry, target=target.entry, by=by),
        )

        # If the edit is first, the merge also deprecates the edited version. If the merge is first, the edit is
        # rejected.
        entry = Entry.objects.get(pk=version.entry_id)
        assert entry.merged_into == target.entry
        assert not entry.versions.exclude(state="deprecated").exists()
        assert said[-1] == "" or "merged this entry" in said[-1]
        assert entry.versions.count() == (2 if said[-1] == "" else 1)

    @pytest.mark.slow
    def test_a_verification_and_a_merge_one_wins(self) -> None:
        waiting, target = shelve("Tell the uptime", state="in_review"), shelve("It", script="w\n")
        said = at_once(
            lambda by: entry_services.verify(Version.objects.get(pk=waiting.pk), by=by),
            lambda by: services.merge_entries(waiting.entry, target=target.entry, by=by),
        )
        waiting.refresh_from_db()
        assert waiting.state == "deprecated"
        assert said[-1] == "" or "merged this entry" in said[-1]


def compare_all() -> int:
    """Return the number of compared entries."""
    return compare_entries(limit=100)


def test_the_other_entry_is_found_by_searching(as_curator: Client) -> None:
    source = shelve("Say how long it is up", script="uptime -p\n").entry
    target = shelve("Print the uptime").entry
    gone = shelve("Print the uptime once", script="uptime --once\n").entry
    Entry.objects.filter(pk=gone.pk).update(merged_into=target)
    address = f"/catalogue/{source.slug}/merge/"

    for options in ({}, {"headers": {"HX-Request": "true"}}):
        page = as_curator.get(address, {"q": "print uptime"}, **options).text
        assert f"?into={target.slug}" in page
        assert f"?into={source.slug}" not in page
        assert f"?into={gone.slug}" not in page
    assert "<html" not in page
    assert as_curator.get(address, {"into": "nowhere"}).status_code == 422
    assert "No matching entries" in as_curator.get(address, {"q": "zzyzx"}).text
    assert as_curator.get(address, {"q": "a\x01b"}).status_code == 200
