"""Tests that managers may view an item, but only reviewers may claim, score and decide, on the page and through the
API."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from review.models import Assignment, Decision, Flag, Item, Remark, Score
from tests.keys import seen_in, shown
from tests.people import make_person
from tests.review.desk.test_desk import script_of
from tests.review.maker import ClientFor, shown_to


@pytest.fixture
def in_hand(item: Item, manager: User) -> Assignment:
    """Return the assignment of a reviewer who has since become a manager."""
    lease = timezone.now() + timedelta(hours=1)
    return Assignment.objects.create(item=item, reviewer=manager, lease_until=lease)


def send(client: Client, item: Item, act: str, *, by: User, door: str) -> int:
    """Send a request that is valid for the assigned reviewer, and return the status."""
    draft = item.run.drafts.get()
    body: dict[str, object] = {
        "claim": {},
        "score": {"stage": "script", "arm": "model", "value": 0, "seen": seen_in(item, draft)},
        "decide": {
            "kind": "reject",
            "reason": "No.",
            "draft": draft.sha256,
            "draft_sha256": draft.sha256,
            "shown": shown_to(by, item),
        },
        "undo": {},
    }[act]
    if door == "page":
        return client.post(reverse(f"item-{act}", args=[item.pk]), body).status_code
    address = f"/api/v1/items/{shown(item)}/{act}/"
    return client.post(address, body, content_type="application/json").status_code


@pytest.mark.parametrize("door", ["page", "api"])
def test_a_manager_acts_on_no_item_and_a_reviewer_does(
    item: Item, manager: User, reviewer: User, client_for: ClientFor, door: str
) -> None:
    in_hand = Assignment.objects.create(
        item=item, reviewer=manager, lease_until=timezone.now() + timedelta(hours=1)
    )
    client = client_for(manager)
    for act in ("claim", "score", "decide", "undo"):
        assert send(client, item, act, by=manager, door=door) == 403, act
    assert not Score.objects.exists() and not Decision.objects.exists()
    in_hand.refresh_from_db()
    assert (in_hand.state, in_hand.fence) == (Assignment.State.ACTIVE, 1)
    in_hand.delete()
    client = client_for(reviewer)
    for act in ("claim", "score", "undo", "decide"):
        assert send(client, item, act, by=reviewer, door=door) in (200, 201, 302), act


def test_manager_needs_reviewer_role(item: Item, manager: User, client_for: ClientFor) -> None:
    client, claim = client_for(manager), f"/api/v1/items/{shown(item)}/claim/"
    assert client.post(claim).status_code == 403
    assert client.post("/api/v1/queue/claim/").status_code == 403
    assert not Assignment.objects.exists()
    both = make_person("bea", "reviewer", "manager")
    assert client_for(both).post(claim).status_code == 200
    assert Assignment.objects.get().reviewer == both


def test_manager_can_not_flag_items(in_hand: Assignment, item: Item, as_manager: Client) -> None:
    remark = {"draft": script_of(item), "line": 1, "text": "Hm"}
    for address, body in (
        (f"/api/v1/items/{shown(item)}/remarks/", remark),
        (f"/api/v1/items/{shown(item)}/give-back/", {"how": "skipped", "why": "No"}),
        (f"/api/v1/items/{shown(item)}/feedback/", {"feedback": "- Use -path."}),
        (f"/api/v1/items/{shown(item)}/shorten/", {"feedback": "word " * 80}),
    ):
        answer = as_manager.post(address, body, content_type="application/json")
        assert answer.status_code == 403, address
    assert as_manager.post(reverse("item-flag", args=[item.pk]), {"flag": "Odd"}).status_code == 403
    assert not Remark.objects.exists() and not Flag.objects.exists()
    in_hand.refresh_from_db()
    assert in_hand.state == Assignment.State.ACTIVE


def test_the_page_shows_a_manager_the_item_and_nothing_to_press(
    in_hand: Assignment, item: Item, manager: User, client_for: ClientFor
) -> None:
    page = client_for(manager).get(reverse("item-review", args=[item.pk]))
    assert page.status_code == 200
    assert "You are viewing this as a manager." in page.text
    for act in ("score", "decide", "claim", "flag", "give-back"):
        assert reverse(f"item-{act}", args=[item.pk]) not in page.text
    assert reverse("queue") not in page.text
