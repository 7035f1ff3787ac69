"""Fixtures that call the same services through the pages and the API, and that provide requests for calibration."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from catalog import hooks
from catalog.models import Version
from tests.catalog.shelf import ASKED, ClientFor, shelve

DONE = 200


class Answered(NamedTuple):
    """The status, or DONE on success, and the text of the response."""

    status: int
    text: str


class Way(Protocol):
    def __call__(self, user: User, version: Version, action: str, **data: object) -> Answered: ...


@pytest.fixture(params=["page", "api"])
def way(request: pytest.FixtureRequest, client_for: ClientFor) -> Way:
    """Return a function that acts on a version as the given user, on the version's page or through the API."""

    def by_page(user: User, version: Version, action: str, **data: object) -> Answered:
        values = data.pop("values", {})
        assert isinstance(values, dict)
        form = {**data, **{f"value-{name}": value for name, value in values.items()}}
        response = client_for(user).post(reverse(f"version-{action}", args=[version.pk]), form)
        return Answered(
            DONE if response.status_code == 302 else response.status_code, response.text
        )

    def by_api(user: User, version: Version, action: str, **data: object) -> Answered:
        address = f"/api/v1/versions/{version.pk}/{action}/"
        response = client_for(user).post(address, data, content_type="application/json")
        done = response.status_code in (200, 201)
        return Answered(DONE if done else response.status_code, response.text)

    return by_page if request.param == "page" else by_api


@pytest.fixture
def version(db: None) -> Version:
    return shelve("Print the uptime", phrasings=["Show how long the machine is up"])


@pytest.fixture
def asked(version: Version, monkeypatch: pytest.MonkeyPatch) -> list[hooks.Case]:
    """Return requests as the other apps report them to the catalogue."""
    cases = [
        hooks.Case(ASKED, version.pk, 0.8),
        hooks.Case("Show the uptime of the machine", version.pk, 0.7),
    ]
    monkeypatch.setattr(hooks, "find_cases", lambda confidence, scoring, limit: cases)
    return cases
