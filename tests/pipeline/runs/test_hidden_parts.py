"""Tests that no page and no API response shows what `visible_parts` hides."""

from __future__ import annotations

from functools import partial

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from core.web.public_keys import DRAFT, public_key
from pipeline import access
from pipeline.access import VisibleParts
from pipeline.models import Run
from tests.make import SCRIPT, make_run

TELLING = ["assessor:", "demo-smith", "mtime", "Minutes, not days", "incorrect", 'flagged"']

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(reviewer: User) -> Run:
    refined = SCRIPT.replace("-mtime", "-mmin")
    return make_run(
        by=reviewer, verdict="incorrect", feedback="- Minutes, not days.", refined=refined
    )


@pytest.fixture
def hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = partial(VisibleParts, verdict=False, models=False)
    monkeypatch.setattr(access, "VisibleParts", nothing)


def addresses_of(run: Run) -> list[str]:
    return [
        reverse("action-list"),
        reverse("action-detail", args=[run.action_id]),
        reverse("run-detail", args=[run.pk]),
        "/api/v1/actions/",
        f"/api/v1/actions/{run.action_id}/",
        "/api/v1/runs/",
        f"/api/v1/runs/{run.pk}/",
    ]


def test_nothing_that_tells_is_shown(hidden: None, client: Client, run: Run) -> None:
    for address in addresses_of(run):
        page = client.get(address).text
        assert "Delete files older than 30 days" in page or "/runs/" in address
        assert [word for word in TELLING if word in _without_forms(page)] == []


def test_drafts_and_ledger_are_closed(hidden: None, client: Client, run: Run) -> None:
    recommended = run.recommended_id
    assert recommended is not None
    assert client.get(reverse("run-calls", args=[run.pk])).status_code == 403
    assert client.get(f"/api/v1/drafts/{public_key(DRAFT, recommended)}/").status_code == 404
    use = reverse("run-use-draft", args=[recommended])
    assert client.post(use, {"reason": "urgent"}).status_code == 404


def test_otherwise_all_of_it_is_shown(client: Client, run: Run) -> None:
    page = client.get(reverse("run-detail", args=[run.pk])).text
    assert [word for word in TELLING if word not in page] == ['flagged"']


def _without_forms(page: str) -> str:
    """Return the page without its filters, because the filters list every verdict."""
    start, end = page.find('<form class="filters"'), page.find("</form>", page.find("filters"))
    return page if start < 0 else page[:start] + page[end:]
