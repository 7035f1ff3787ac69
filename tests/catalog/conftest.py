"""Two ways to the same services."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from catalog.models import Version

DONE = 200


class Answered(NamedTuple):
    """The status, DONE where it was done, and what was said."""

    status: int
    text: str


class Way(Protocol):
    def __call__(self, user: User, version: Version, action: str, **data: object) -> Answered: ...


@pytest.fixture(params=["page", "api"])
def way(request: pytest.FixtureRequest, client_for: Callable[[User], Client]) -> Way:
    """Do something with a version as this person, on its page or by the API."""

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
