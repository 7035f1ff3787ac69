"""Tests for the title and the other phrasings of an entry."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from catalog.models import Phrasing, Version
from catalog.retrieval import services as retrieval
from tests.catalog.shelf import ClientFor, shelve

pytestmark = pytest.mark.django_db


@pytest.fixture
def version() -> Version:
    return shelve("Restart the print spooler", phrasings=["Bounce cups"])


def texts(version: Version) -> list[str]:
    return list(version.entry.phrasings.values_list("text", flat=True))


def test_a_new_wording_is_answered_once_it_is_confirmed(
    version: Version, curator: User, second_curator: User, client_for: ClientFor
) -> None:
    address = f"/catalogue/{version.entry.slug}/phrasing/"
    assert client_for(curator).post(address, {"text": "Kick the printers"}).status_code == 302
    retrieval.embed_missing()
    assert retrieval.retrieve("Kick the printers").answer == "adapt"
    phrasing = version.entry.phrasings.get(text="Kick the printers")
    confirm = f"/catalogue/phrasings/{phrasing.pk}/confirm/"
    assert client_for(second_curator).post(confirm).status_code == 302
    assert retrieval.retrieve("Kick the printers").answer == "match"


def test_a_wording_that_says_nothing_new_is_refused(
    version: Version, curator: User, client_for: ClientFor
) -> None:
    address = f"/catalogue/{version.entry.slug}/phrasing/"
    for text in ("", "  ", "Bounce cups", "a\0b"):
        assert client_for(curator).post(address, {"text": text}).status_code == 422, text
    assert len(texts(version)) == 2


def test_a_wording_can_go_but_not_the_title(
    version: Version, curator: User, client_for: ClientFor
) -> None:
    title, other = version.entry.phrasings.all()
    client = client_for(curator)
    assert client.post(f"/catalogue/phrasings/{other.pk}/remove/").status_code == 302
    assert client.post(f"/catalogue/phrasings/{title.pk}/remove/").status_code == 409
    assert texts(version) == ["Restart the print spooler"]


def test_another_title_is_a_phrasing_and_the_address_stays(
    version: Version, curator: User, client_for: ClientFor
) -> None:
    address = f"/catalogue/{version.entry.slug}/rename/"
    assert client_for(curator).post(address, {"title": "Bounce cups"}).status_code == 302
    assert texts(version) == ["Bounce cups"]
    assert Phrasing.objects.get().source == Phrasing.Source.TITLE
    version.entry.refresh_from_db()
    assert (version.entry.title, version.entry.slug) == ("Bounce cups", "restart-the-print-spooler")
