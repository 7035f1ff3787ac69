"""Endpoints and configurations, looked at by those who manage them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from pipeline.models import Configuration, Endpoint
from tests.pipeline.query_counts import count_queries

ClientFor = Callable[[User], Client]
SECRET = "sk-secret-value"
pytestmark = pytest.mark.django_db


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)


@pytest.mark.parametrize(
    "address", ["/endpoints/", "/api/v1/endpoints/", "/api/v1/endpoints/claude/"]
)
def test_a_key_is_named_and_never_shown(
    key: None, client_for: ClientFor, administrator: User, address: str
) -> None:
    page = client_for(administrator).get(address).text

    assert "ANTHROPIC_API_KEY" in page
    assert SECRET not in page


def test_the_page_says_whether_it_is_on_and_whether_the_key_is_set(
    key: None, client_for: ClientFor, administrator: User
) -> None:
    page = client_for(administrator).get(reverse("endpoint-list")).text

    for words in ("by SCRIPTSMITH_ENDPOINTS", "is set", "neither here nor by", "$2.00 in"):
        assert words in page

    Endpoint.objects.filter(name="claude").update(enabled=True)
    assert "switched on here" in client_for(administrator).get(reverse("endpoint-list")).text


def test_configurations_say_who_plays_which_role(
    client_for: ClientFor, administrator: User
) -> None:
    page = client_for(administrator).get(reverse("configuration-list")).text

    for words in ("claude-opus-5-5", "Peer review", "endpoint off", "can be used", "for imports"):
        assert words in page


@pytest.mark.parametrize("address", ["/endpoints/", "/configurations/", "/api/v1/endpoints/"])
def test_they_take_the_permission(client_for: ClientFor, reviewer: User, address: str) -> None:
    assert client_for(reviewer).get(address).status_code == 403


def test_lists_take_a_fixed_number_of_queries(client_for: ClientFor, administrator: User) -> None:
    client = client_for(administrator)
    addresses = [reverse("endpoint-list"), reverse("configuration-list")]
    few = [count_queries(client, address) for address in addresses]
    for number in range(20):
        Endpoint.objects.create(name=f"local-{number}", title="Local", base_url="http://127.0.0.1")
        Configuration.objects.create(name=f"own-{number}", title="Own")

    assert [count_queries(client, address) for address in addresses] == few
    assert max(few) <= 9
