"""Tests for the title and the other phrasings of an entry."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from catalog.models import Phrasing, Version
from tests.catalog.shelf import ClientFor, shelve

pytestmark = pytest.mark.django_db


@pytest.fixture
def version() -> Version:
    return shelve("Restart the print spooler", phrasings=["Bounce cups"])


def texts(version: Version) -> list[str]:
    return list(version.entry.phrasings.values_list("text", flat=True))


def test_a_wording_that_says_nothing_new_is_refused(
    version: Version, curator: User, client_for: ClientFor
) -> None:
    address = f"/catalogue/{version.entry.slug}/phrasing/"
    client = client_for(curator)
    for text in ("", "  ", "Bounce cups", "a\0b"):
        assert client.post(address, {"text": text}).status_code == 422, text
    assert client.post(address, {"text": "Kick the printers"}).status_code == 302
    assert texts(version)[2:] == ["Kick the printers"]


def test_another_title_is_a_phrasing_and_the_address_stays(
    version: Version, curator: User, client_for: ClientFor
) -> None:
    address = f"/catalogue/{version.entry.slug}/rename/"
    assert client_for(curator).post(address, {"title": "Bounce cups"}).status_code == 302
    assert texts(version) == ["Bounce cups"]
    assert Phrasing.objects.get().source == Phrasing.Source.TITLE
    version.entry.refresh_from_db()
    assert (version.entry.title, version.entry.slug) == ("Bounce cups", "restart-the-print-spooler")
