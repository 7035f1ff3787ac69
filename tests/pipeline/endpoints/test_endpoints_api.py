"""Tests for endpoints through the API, which uses the same services as the pages."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.test import Client
from django.utils import timezone

from pipeline.endpoints.prices import PriceValues, add_price
from pipeline.endpoints.services import EndpointValues, create_endpoint
from pipeline.models import Endpoint
from tests.people import make_person

pytestmark = pytest.mark.django_db

API = "/api/v1/endpoints/"
NEW = {"name": "box", "title": "Box", "base_url": "http://127.0.0.1:9", "max_in_flight": 2}
PRICE = {"model": "m", "since": "2026-11-01", "input": 250_000, "output": 1_500_000}


def send(client: Client, path: str = "", body: object = None, method: str = "post") -> Any:
    return getattr(client, method)(f"{API}{path}", body or {}, content_type="application/json")


def test_an_endpoint_lives_from_being_added_to_being_deleted(client: Client) -> None:
    made = send(client, body=NEW)
    assert made.status_code == 201
    assert made.json()["is_on"] is False and made.json()["check"]["state"] == "never"
    edition = made.json()["edition"]
    changed = send(client, "box/", {"mode": "tool", "edition": edition}, "patch").json()
    assert (changed["mode"], changed["max_in_flight"]) == ("tool", 2)
    stale = send(client, "box/", {"mode": "text", "edition": edition}, "patch")
    assert stale.status_code == 409
    assert send(client, "box/", {"mode": "text"}, "patch").json()["mode"] == "text"
    assert send(client, "box/switch-on/").json()["is_on"] is True
    assert send(client, "box/switch-on/").status_code == 409
    assert send(client, "box/switch-off/").json()["is_on"] is False
    assert client.delete(f"{API}box/").status_code == 204
    assert client.get(f"{API}box/").status_code == 404


def test_change_of_an_endpoint_by_a_curator_is_refused(db: None) -> None:
    """The services themselves must deny the change, because other code may also call them."""
    endpoint, by = Endpoint.objects.get(name="demo"), make_person("carla", "curator")
    values = EndpointValues(title="Box", base_url="http://127.0.0.1:9")
    price = PriceValues(model="m", since=date(2026, 11, 1), input=1, output=1)
    changes = {
        "create": lambda: create_endpoint("box", values=values, by=by),
        "price": lambda: add_price(endpoint, values=price, by=by),
    }
    for name, change in changes.items():
        with pytest.raises(PermissionDenied):
            change()
            pytest.fail(name)


def test_bad_input_names_its_field(client: Client, subtests: pytest.Subtests) -> None:
    cases = {
        "taken": ({"name": "demo"}, "name"),
        "address": ({"base_url": "http://host.example"}, "base_url"),
        "a key": ({"key_variable": "sk-ant-1"}, "key_variable"),
        "mode": ({"mode": "json"}, "mode"),
        "no calls": ({"max_in_flight": 0}, "max_in_flight"),
        "no number": ({"timeout_seconds": "soon"}, "timeout_seconds"),
        "no title": ({"title": ""}, "title"),
    }
    for name, (change, field) in cases.items():
        with subtests.test(name):
            refused = send(client, body={**NEW, **change})
            assert refused.status_code == 422
            assert refused.json()["error"]["field"] == field
            assert "sk-ant-1" not in refused.content.decode()


def test_leaving_the_machine_takes_a_confirmation(client: Client) -> None:
    refused = send(client, "claude/switch-on/")
    assert (refused.status_code, refused.json()["error"]["field"]) == (422, "confirmed")
    assert send(client, "claude/switch-on/", {"confirmed": True}).json()["is_on"] is True


def test_a_check_is_asked_for_and_read(client: Client) -> None:
    asked = send(client, "demo/check/", {"model": "demo-smith"})
    assert asked.status_code == 202 and asked.json()["check"]["state"] == "waiting"
    assert send(client, "demo/check/").status_code == 409
    Endpoint.objects.filter(name="demo").update(
        probed_at=timezone.now(), probe={"models": ["a"], "recommended": "tool", "calls": 2}
    )
    check = client.get(f"{API}demo/").json()["check"]
    assert (check["state"], check["models"], check["recommended"]) == ("done", ["a"], "tool")
    assert send(client, "demo/use-mode/", {"mode": "tool"}).json()["mode"] == "tool"
    assert send(client, "demo/wake/").status_code == 409


def test_prices_are_added_and_removed(client: Client) -> None:
    send(client, body=NEW)
    made = send(client, "box/prices/", PRICE)
    assert made.status_code == 201 and made.json()["cache_read"] == 0
    assert send(client, "box/prices/", PRICE).json()["error"]["field"] == "since"
    assert len(client.get(f"{API}box/").json()["prices"]) == 1
    assert client.delete(f"{API}box/prices/{made.json()['id']}/").status_code == 204
    assert client.get(f"{API}box/").json()["prices"] == []
