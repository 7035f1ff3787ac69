"""Who reads what of the audit log: managers what was done to campaigns and scripts, administrators everything."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from core.audit import record
from review.campaigns.services import rules
from tests.make import make_action
from tests.site.browsing import ClientFor


@pytest.fixture
def records(manager: User, reviewer: User, administrator: User) -> None:
    record(reviewer, "roles changed", by=administrator, roles=("reviewer", "curator"))
    record(reviewer, "anonymised", by=administrator)
    record(make_action("Show the uptime"), "texts erased", by=administrator)
    record(rules.create_campaign("Pilot", by=manager), "made by hand", by=manager)


def test_manager_reads_only_what_was_done_to_campaigns(
    records: None, manager: User, reviewer: User, client_for: ClientFor, as_manager: Client
) -> None:
    page = client_for(manager).get("/audit/")
    assert page.status_code == 200
    assert "made by hand" in page.text and "Pilot" in page.text
    for hidden in ("roles changed", "anonymised", "texts erased"):
        assert hidden not in page.text
    assert "/audit/export/" not in page.text and "/users/" not in page.text
    for event in ("roles changed", "anonymised", "texts erased"):
        page = as_manager.get("/audit/", {"event": event})
        assert page.status_code == 200
        assert "No record fits these filters" in page.text, event


def test_administrator_reads_and_exports_all_of_it(records: None, as_administrator: Client) -> None:
    page = as_administrator.get("/audit/").text
    for event in ("roles changed", "anonymised", "texts erased", "made by hand"):
        assert event in page
    assert "/audit/export/" in page and "/users/" in page
    assert as_administrator.get("/audit/export/").status_code == 200
