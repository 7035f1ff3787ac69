"""Tests for submitting, sending back, deprecating and suspending a version or its entry."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from catalog.models import Embedding, Version
from catalog.retrieval import services as retrieval
from tests.catalog.conftest import DONE, Way
from tests.catalog.shelf import ClientFor, shelve

pytestmark = pytest.mark.django_db

MOVES = [
    ("draft", "submit", {"note": "ready"}, "in_review"),
    ("deprecated", "submit", {}, "in_review"),
    ("in_review", "send-back", {"reason": "no undo"}, "draft"),
    ("verified", "deprecate", {"reason": "old"}, "deprecated"),
    ("draft", "deprecate", {"reason": "never mind"}, "deprecated"),
]


def test_curator_moves_a_version_and_the_event_is_logged(way: Way, curator: User) -> None:
    for state, action, data, new in MOVES:
        version = shelve(state=state)
        assert way(curator, version, action, **data).status == DONE, action
        version.refresh_from_db()
        event = version.events.latest("pk")
        assert (version.state, event.old, event.new, event.by) == (new, state, new, curator)
        assert event.note == (data.get("note") or data.get("reason", ""))


def test_sending_back_and_deprecating_need_a_reason(way: Way, curator: User) -> None:
    version = shelve(state="in_review")
    for action in ("send-back", "deprecate"):
        assert way(curator, version, action, reason=" ").status == 422
    version.refresh_from_db()
    assert version.state == "in_review"


def test_move_that_the_state_does_not_allow_is_refused(way: Way, curator: User) -> None:
    for state, action in (
        ("verified", "submit"),
        ("draft", "send-back"),
        ("deprecated", "deprecate"),
    ):
        version = shelve(state=state)

        answered = way(curator, version, action, reason="because", note="")

        assert answered.status == 409
        assert "become" in answered.text
        version.refresh_from_db()
        assert version.state == state


def test_what_is_deprecated_answers_no_more(way: Way, curator: User) -> None:
    version = shelve("Restart the print spooler")
    assert retrieval.retrieve("Restart the print spooler").answer == "match"
    way(curator, version, "deprecate", reason="gone")
    assert retrieval.retrieve("Restart the print spooler").matches == ()
    assert not Embedding.objects.filter(searchable=True).exists()


def test_an_unknown_version_is_not_found(way: Way, curator: User) -> None:
    assert way(curator, Version(pk=987654), "verify").status == 404


STATEMENT = "Restart the print spooler"


@pytest.fixture
def spooler() -> Version:
    return shelve(STATEMENT)


def test_a_suspended_entry_answers_no_more_until_it_is_lifted(
    spooler: Version, curator: User, client_for: ClientFor
) -> None:
    client = client_for(curator)
    address = f"/catalogue/{spooler.entry.slug}/"
    assert client.post(f"{address}suspend/", {"reason": "breaks queues"}).status_code == 302
    assert retrieval.retrieve(STATEMENT).matches == ()
    assert "breaks queues" in client.get(address).text
    assert client.post(f"{address}lift/", {"note": "it was another script"}).status_code == 302
    assert retrieval.retrieve(STATEMENT).answer == "match"


def test_it_is_refused_twice_without_a_reason_and_without_the_right(
    spooler: Version, curator: User, reviewer: User, client_for: ClientFor
) -> None:
    address = f"/catalogue/{spooler.entry.slug}/suspend/"

    assert client_for(reviewer).post(address, {"reason": "no"}).status_code == 403
    assert client_for(curator).post(address, {"reason": ""}).status_code == 422
    assert client_for(curator).get(address).status_code == 405
    spooler.entry.refresh_from_db()
    assert spooler.entry.suspended_at is None
    lift = f"/catalogue/{spooler.entry.slug}/lift/"
    assert client_for(curator).post(lift, {"note": "fine"}).status_code == 409

    client_for(curator).post(address, {"reason": "first"})
    assert client_for(curator).post(address, {"reason": "second"}).status_code == 409
    spooler.entry.refresh_from_db()
    assert spooler.entry.suspended_why == "first"
