"""Whoever looks at their run while it waits for a reviewer sees what is decided, without loading the page again."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from review import services
from review.models import Assignment
from tests.review.maker import shown_to

ClientFor = Callable[[User], Client]
HTMX = {"HX-Request": "true"}

pytestmark = pytest.mark.django_db


@pytest.mark.slow
def test_the_page_of_a_waiting_run_follows_the_review(
    held: Assignment, reviewer: User, manager: User, client_for: ClientFor
) -> None:
    run = held.item.run
    assert run is not None
    client = client_for(manager)
    page = client.get(reverse("run-detail", args=[run.pk]))
    assert 'hx-trigger="every 20s"' in page.text
    status, seen = reverse("run-status", args=[run.pk]), {"seen": page.context["seen"]}
    assert client.get(status, seen, headers=HTMX).status_code == 204
    draft = run.drafts.get()
    services.decide(
        held.item,
        kind="reject",
        draft_sha256=draft.sha256,
        shown=shown_to(reviewer, held.item),
        reason="It deletes too much.",
        by=reviewer,
    )
    told = client.get(status, seen, headers=HTMX)
    assert told.status_code == 200 and "It deletes too much." in told.text
    assert "hx-trigger" not in told.text
    assert "Rejected" in told.headers["HX-Trigger"]
