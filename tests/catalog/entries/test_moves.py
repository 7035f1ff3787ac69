"""Submitting, sending back, deprecating: the other moves of a version."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from catalog.models import Embedding, Version
from catalog.retrieval import services as retrieval
from tests.catalog.conftest import DONE, Way
from tests.catalog.shelf import shelve

pytestmark = pytest.mark.django_db

MOVES = [
    pytest.param("draft", "submit", {"note": "ready"}, "in_review", id="submit a draft"),
    pytest.param("deprecated", "submit", {}, "in_review", id="want an old one again"),
    pytest.param("in_review", "send-back", {"reason": "no undo"}, "draft", id="send back"),
    pytest.param("verified", "deprecate", {"reason": "old"}, "deprecated", id="deprecate"),
    pytest.param("draft", "deprecate", {"reason": "never mind"}, "deprecated", id="drop a draft"),
]


@pytest.mark.parametrize(("state", "action", "data", "new"), MOVES)
def test_a_curator_moves_it_and_it_is_noted(
    way: Way, curator: User, state: str, action: str, data: dict[str, str], new: str
) -> None:
    version = shelve(state=state)

    assert way(curator, version, action, **data).status == DONE

    version.refresh_from_db()
    assert version.state == new
    event = version.events.last()
    assert event is not None
    assert (event.old, event.new, event.by) == (state, new, curator)
    assert event.note == (data.get("note") or data.get("reason", ""))


@pytest.mark.parametrize(("state", "action", "data", "new"), MOVES)
def test_nobody_else_does(
    way: Way, reviewer: User, state: str, action: str, data: dict[str, str], new: str
) -> None:
    version = shelve(state=state)

    assert way(reviewer, version, action, **data).status == 403
    version.refresh_from_db()
    assert version.state == state


@pytest.mark.parametrize("action", ["send-back", "deprecate"])
def test_a_reason_is_needed(way: Way, curator: User, action: str) -> None:
    version = shelve(state="in_review")

    assert way(curator, version, action, reason=" ").status == 422
    version.refresh_from_db()
    assert version.state == "in_review"


@pytest.mark.parametrize(
    ("state", "action"),
    [("verified", "submit"), ("draft", "send-back"), ("deprecated", "deprecate")],
)
def test_a_move_that_the_state_does_not_allow_is_refused(
    way: Way, curator: User, state: str, action: str
) -> None:
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
