"""Who reads what of the audit log: managers what was done to campaigns and scripts, administrators everything."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from core.audit import record
from review.campaigns.services import rules
from tests.make import make_action

ClientFor = Callable[[User], Client]


@pytest.fixture
def records(manager: User, reviewer: User, administrator: User) -> None:
    record(reviewer, "roles changed", by=administrator, roles=("reviewer", "curator"))
    record(reviewer, "anonymised", by=administrator)
    record(make_action("Show the uptime"), "texts erased", by=administrator)
    record(rules.create_campaign("Pilot", by=manager), "made by hand", by=manager)


def test_a_manager_reads_what_was_done_to_campaigns(
    records: None, manager: User, reviewer: User, client_for: ClientFor
) -> None:
    page = client_for(manager).get("/audit/")
    assert page.status_code == 200
    assert "made by hand" in page.text and "Pilot" in page.text
    for hidden in ("roles changed", "anonymised", "texts erased"):
        assert hidden not in page.text
    assert "/audit/export/" not in page.text and "/users/" not in page.text


@pytest.mark.parametrize("event", ["roles changed", "anonymised", "texts erased"])
def test_nor_does_a_filter_lead_to_the_rest(
    records: None, manager: User, client_for: ClientFor, event: str
) -> None:
    page = client_for(manager).get("/audit/", {"event": event})
    assert page.status_code == 200
    assert "No record fits these filters" in page.text


def test_an_administrator_reads_and_exports_all_of_it(
    records: None, administrator: User, client_for: ClientFor
) -> None:
    client = client_for(administrator)
    page = client.get("/audit/").text
    for event in ("roles changed", "anonymised", "texts erased", "made by hand"):
        assert event in page
    assert "/audit/export/" in page and "/users/" in page
    assert client.get("/audit/export/").status_code == 200


def test_a_manager_exports_nothing_and_others_read_nothing(
    records: None, manager: User, curator: User, reviewer: User, client_for: ClientFor
) -> None:
    assert client_for(manager).get("/audit/export/").status_code == 403
    for person in (curator, reviewer):
        assert client_for(person).get("/audit/").status_code == 403
