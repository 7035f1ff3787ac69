"""Tests that only other users may verify a version, that it is verified only once, and for four-eyes approval."""

from __future__ import annotations

import pytest
from auditlog.models import LogEntry
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError
from django.utils import timezone
from pytest_django import Settings

from catalog.entries import services
from catalog.models import Embedding, Version
from catalog.retrieval import services as retrieval
from tests.catalog.conftest import DONE, Way
from tests.catalog.shelf import shelve

pytestmark = pytest.mark.django_db


@pytest.fixture
def waiting(curator: User) -> Version:
    """Return a version in review, written by one curator."""
    return shelve(state="in_review", author=curator)


def test_another_curator_verifies_it_and_the_entry_answers(
    way: Way, waiting: Version, second_curator: User
) -> None:
    assert way(second_curator, waiting, "verify", note="looked at it").status == DONE

    waiting.refresh_from_db()
    assert waiting.state == "verified"
    assert waiting.verified_by == second_curator
    assert waiting.verified_at is not None
    assert not waiting.self_verified
    event = waiting.events.last()
    assert event is not None
    assert (event.old, event.new, event.by, event.note) == (
        "in_review",
        "verified",
        second_curator,
        "looked at it",
    )
    assert set(Embedding.objects.values_list("searchable", flat=True)) == {True}
    assert retrieval.retrieve("List files older than 30 days").answer == "match"
    logged = LogEntry.objects.get(actor=second_curator)
    assert logged.additional_data == {"event": "verified"}


def test_the_author_cannot_verify_it(way: Way, waiting: Version, curator: User) -> None:
    answered = way(curator, waiting, "verify")
    assert answered.status == 403
    assert "four-eyes approval" in answered.text
    waiting.refresh_from_db()
    assert waiting.state == "in_review"


def test_a_team_of_one_may_and_it_is_marked(
    way: Way, waiting: Version, curator: User, settings: Settings
) -> None:
    settings.SCRIPTSMITH_SELF_VERIFY = True
    assert way(curator, waiting, "verify").status == DONE
    waiting.refresh_from_db()
    assert waiting.self_verified


def test_it_is_verified_only_once(way: Way, waiting: Version, second_curator: User) -> None:
    way(second_curator, waiting, "verify")
    assert way(second_curator, waiting, "verify").status == 409
    assert waiting.events.filter(new="verified").count() == 1


def test_the_former_version_goes_out_of_use(way: Way, curator: User, second_curator: User) -> None:
    former = shelve()
    edited = services.edit_version(
        former, script="date\n", details=services.details_of(former), by=curator
    )
    assert way(second_curator, edited, "verify").status == DONE
    former.refresh_from_db()
    assert former.state == "deprecated"
    assert former.events.last().note == "replaced by version 2"
    assert [match.version for match in retrieval.retrieve(former.entry.title).matches] == [2]


def test_the_database_itself_wants_four_eyes(waiting: Version, curator: User) -> None:
    changes = {"state": "verified", "verified_at": timezone.now(), "verified_by": curator}
    with pytest.raises(IntegrityError, match="version_four_eyes"):
        Version.objects.filter(pk=waiting.pk).update(**changes)


def test_the_service_asks_for_the_right_itself(waiting: Version, stranger: User) -> None:
    with pytest.raises(PermissionDenied):
        services.verify(waiting, by=stranger)
