"""Suspending an entry by hand, and lifting it again."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from catalog.models import Version
from catalog.retrieval import services as retrieval
from tests.catalog.shelf import shelve

pytestmark = pytest.mark.django_db

STATEMENT = "Restart the print spooler"


@pytest.fixture
def version() -> Version:
    return shelve(STATEMENT)


def test_a_suspended_entry_answers_no_more_until_it_is_lifted(
    version: Version, curator: User, client_for: Callable[[User], Client]
) -> None:
    client = client_for(curator)
    address = f"/catalogue/{version.entry.slug}/"

    assert client.post(f"{address}suspend/", {"reason": "breaks queues"}).status_code == 302
    assert retrieval.retrieve(STATEMENT).matches == ()
    assert "breaks queues" in client.get(address).text

    assert client.post(f"{address}lift/", {"note": "it was another script"}).status_code == 302
    assert retrieval.retrieve(STATEMENT).answer == "match"


def test_it_is_refused_twice_without_a_reason_and_without_the_right(
    version: Version, curator: User, reviewer: User, client_for: Callable[[User], Client]
) -> None:
    address = f"/catalogue/{version.entry.slug}/suspend/"

    assert client_for(reviewer).post(address, {"reason": "no"}).status_code == 403
    assert client_for(curator).post(address, {"reason": ""}).status_code == 422
    assert client_for(curator).get(address).status_code == 405
    version.entry.refresh_from_db()
    assert version.entry.suspended_at is None

    client_for(curator).post(address, {"reason": "first"})
    assert client_for(curator).post(address, {"reason": "second"}).status_code == 409
    version.entry.refresh_from_db()
    assert version.entry.suspended_why == "first"


def test_what_is_not_suspended_cannot_be_lifted(
    version: Version, curator: User, client_for: Callable[[User], Client]
) -> None:
    address = f"/catalogue/{version.entry.slug}/lift/"
    assert client_for(curator).post(address, {"note": "fine"}).status_code == 409
