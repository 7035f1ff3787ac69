"""Tests for rolling back to an earlier version, with four-eyes approval or as an emergency that is confirmed later."""

from __future__ import annotations

import pytest
from auditlog.models import LogEntry
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied

from catalog.entries import services
from catalog.models import CaseRun, Rollback, Version
from catalog.retrieval import services as retrieval
from catalog.services import add_cases
from core.errors import BadInput, NotAllowedNow, Stale
from tests.catalog.conftest import DONE, Way
from tests.catalog.evidence.conftest import cases_text
from tests.catalog.shelf import PLAIN, ClientFor, shelve

pytestmark = pytest.mark.django_db

WHY = "INC-7: it empties the wrong folder."


@pytest.fixture
def first(curator: User, second_curator: User) -> Version:
    """Return version 1, written by one curator and verified by another, then replaced by version 2."""
    version = shelve("Print the uptime", author=curator, verified_by=second_curator)
    details = services.details_of(version)
    second = services.edit_version(version, script="uptime -p\n", details=details, by=curator)
    services.verify(second, by=second_curator)
    version.refresh_from_db()
    return version


def states(version: Version) -> dict[int, str]:
    return dict(version.entry.versions.values_list("number", "state"))


def test_one_step_makes_the_former_version_answer(
    way: Way, first: Version, second_curator: User
) -> None:
    data = {"reason": WHY, "way": "verify"}
    assert way(second_curator, first, "roll-back", **data).status == DONE

    assert states(first) == {1: "verified", 2: "deprecated"}
    first.refresh_from_db()
    assert first.verified_by == second_curator
    made = Rollback.objects.get()
    assert (made.replaced.number, made.reason, made.is_emergency) == (2, WHY, False)
    assert not services.emergencies_to_confirm().exists()
    (match,) = retrieval.retrieve("Print the uptime").matches
    assert (match.version, match.script) == (1, PLAIN)
    logged = LogEntry.objects.filter(additional_data__event="rolled back").get()
    assert (logged.actor, logged.changes["answers"]) == (second_curator, ["2", "1"])


def test_four_eyes_hold_as_for_any_version(first: Version, curator: User) -> None:
    with pytest.raises(PermissionDenied, match="four-eyes approval"):
        services.roll_back(first, by=curator, reason=WHY)
    assert states(first) == {1: "deprecated", 2: "verified"}


def test_its_author_may_ask_for_it(client_for: ClientFor, first: Version, curator: User) -> None:
    client = client_for(curator)
    page = client.get(f"/catalogue/versions/{first.pk}/roll-back/").text
    assert 'value="ask"' in page
    assert 'value="verify"' not in page
    client.post(f"/catalogue/versions/{first.pk}/roll-back/", {"reason": WHY, "way": "ask"})
    assert states(first) == {1: "in_review", 2: "verified"}


@pytest.mark.slow
def test_an_emergency_is_recorded_and_shown_until_somebody_else_confirms_it(
    way: Way, client_for: ClientFor, first: Version, curator: User, second_curator: User
) -> None:
    verified_at = first.verified_at
    data = {"reason": WHY, "way": "emergency", "emergency": True}
    assert way(curator, first, "roll-back", **data).status == DONE

    assert states(first) == {1: "verified", 2: "deprecated"}
    first.refresh_from_db()
    # The earlier verification is valid again, so no user has verified a script that the same user wrote.
    assert (first.verified_by, first.verified_at, first.self_verified) == (
        second_curator, verified_at, False,
    )  # fmt: skip
    assert LogEntry.objects.filter(additional_data__event="rolled back in an emergency").exists()
    entry, listed = f"/catalogue/{first.entry.slug}/", "/catalogue/"
    for person, address in (
        (second_curator, entry),
        (curator, entry),
        (second_curator, listed),
        (second_curator, "/catalogue/curation/wordings/"),
    ):
        page = client_for(person).get(address).text
        assert "emergency" in page, address

    with pytest.raises(PermissionDenied):
        services.verify_again(first, by=curator)
    assert services.emergencies_to_confirm().exists()

    assert way(second_curator, first, "verify-again", note="Looked at it.").status == DONE

    made = Rollback.objects.get()
    assert made.confirmed_by == second_curator
    assert made.confirmed_at is not None
    assert "emergency" not in client_for(second_curator).get(entry).text.split('id="phrasings"')[0]
    assert not services.emergencies_to_confirm().exists()


def test_an_emergency_that_answers_no_more_waits_for_nobody(
    first: Version, curator: User, second_curator: User
) -> None:
    services.roll_back(first, by=curator, reason=WHY, emergency=True)
    second = first.entry.versions.get(number=2)
    # The same curator also wrote version 2, so another curator can restore it immediately.
    services.roll_back(second, by=second_curator, reason="It was the disk.")
    assert states(first) == {1: "deprecated", 2: "verified"}
    assert not services.emergencies_to_confirm().exists()


def test_who_may_verify_needs_no_emergency(first: Version, second_curator: User) -> None:
    with pytest.raises(BadInput, match="without an emergency rollback"):
        services.roll_back(first, by=second_curator, reason=WHY, emergency=True)


def test_only_what_was_verified_once_can_be_rolled_back_to(
    client_for: ClientFor, curator: User
) -> None:
    for state in ("draft", "in_review"):
        version = shelve(state=state)
        with pytest.raises(NotAllowedNow, match="You can roll back only to"):
            services.roll_back(version, by=curator, reason=WHY)
    address = f"/catalogue/versions/{version.pk}/roll-back/"
    client = client_for(curator)
    assert "You can roll back only to" in client.get(address).text
    answer = client.post(address, {"reason": WHY, "way": "verify"})
    assert answer.status_code == 409
    assert "You can roll back only to" in answer.text


def test_a_reason_is_needed_and_what_was_typed_stays(
    client_for: ClientFor, first: Version, second_curator: User
) -> None:
    client = client_for(second_curator)
    address = f"/catalogue/versions/{first.pk}/roll-back/"
    assert client.post(address, {"reason": " ", "way": "verify"}).status_code == 422
    answer = client.post(address, {"reason": "Typed <b>this</b>"})
    assert answer.status_code == 422
    assert "Typed &lt;b&gt;this&lt;/b&gt;" in answer.text
    assert states(first) == {1: "deprecated", 2: "verified"}


def test_another_version_than_the_person_saw_is_told(
    client_for: ClientFor, first: Version, second_curator: User
) -> None:
    with pytest.raises(Stale):
        services.roll_back(first, by=second_curator, reason=WHY, seen="7")
    address = f"/api/v1/versions/{first.pk}/roll-back/"
    sent = {"reason": WHY, "seen": "7"}
    answer = client_for(second_curator).post(address, sent, content_type="application/json")
    assert answer.status_code == 409
    assert states(first) == {1: "deprecated", 2: "verified"}


def test_a_suspension_is_lifted_only_where_asked(
    client_for: ClientFor, first: Version, curator: User, second_curator: User
) -> None:
    services.suspend(first.entry, by=curator, reason="INC-7")
    address = f"/catalogue/versions/{first.pk}/roll-back/"
    client = client_for(second_curator)
    assert "INC-7" in client.get(address).text
    client.post(address, {"reason": WHY, "way": "verify", "lift": "on"})
    first.entry.refresh_from_db()
    assert first.entry.suspended_at is None
    assert [match.version for match in retrieval.retrieve("Print the uptime").matches] == [1]


def test_deprecating_says_that_nothing_answers_and_offers_the_roll_back(
    client_for: ClientFor, first: Version, second_curator: User
) -> None:
    client = client_for(second_curator)
    address = f"/catalogue/{first.entry.slug}/"

    before = client.get(address).text
    assert "This is the only verified version" in before
    assert f"/catalogue/versions/{first.pk}/roll-back/" in before

    second = first.entry.versions.get(number=2)
    services.deprecate(second, by=second_curator, reason="INC-7")
    after = client.get(address).text
    assert "This entry has no verified version, so it answers no requests." in after
    assert "/roll-back/" in after

    services.roll_back(first, by=second_curator, reason=WHY)
    assert states(first) == {1: "verified", 2: "deprecated"}
    assert Rollback.objects.get().replaced is None


def test_readers_are_told_of_an_emergency_but_offered_nothing(
    client_for: ClientFor, first: Version, curator: User, reviewer: User
) -> None:
    services.roll_back(first, by=curator, reason=WHY, emergency=True)
    page = client_for(reviewer).get(f"/catalogue/{first.entry.slug}/").text
    assert "rolled back to it in an emergency" in page
    assert "/roll-back/" not in page


@pytest.mark.parametrize("emergency", [False, True])
def test_the_cases_are_run_on_what_answers_now(
    first: Version, curator: User, second_curator: User, emergency: bool
) -> None:
    add_cases(first.entry, cases_text(), by=curator)
    CaseRun.objects.all().delete()
    by = curator if emergency else second_curator
    services.roll_back(first, by=by, reason=WHY, emergency=emergency)
    run = CaseRun.objects.get()
    assert (run.script_sha256, run.purpose, run.by) == (first.sha256, "verified", by)
