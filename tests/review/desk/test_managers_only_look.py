"""Looking at an item is for managers too; claiming, scoring and deciding take the role reviewer, by page and by API."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from review.models import Assignment, Decision, Flag, Item, Remark, Score
from tests.keys import shown
from tests.people import make_person
from tests.review.desk.test_desk import script_of

ClientFor = Callable[[User], Client]


@pytest.fixture
def in_hand(item: Item, manager: User) -> Assignment:
    """What a reviewer has in hand who has become a manager since."""
    lease = timezone.now() + timedelta(hours=1)
    return Assignment.objects.create(item=item, reviewer=manager, lease_until=lease)


def acts_on(item: Item) -> dict[str, dict[str, object]]:
    """What would be accepted of a reviewer, by the last part of the address."""
    assert item.run is not None
    draft = item.run.drafts.get()
    return {
        "claim": {},
        "score": {"stage": "script", "arm": "model", "value": 0, "seen": script_of(item)},
        "decide": {
            "kind": "approve",
            "draft_sha256": draft.sha256,
            "draft": draft.sha256,
            "newest_seen": draft.pk,
            "newest": draft.pk,
        },
        "undo": {},
    }


@pytest.mark.parametrize("act", ["claim", "score", "decide", "undo"])
@pytest.mark.parametrize("door", ["page", "api"])
def test_a_manager_acts_on_no_item(
    in_hand: Assignment, item: Item, manager: User, client_for: ClientFor, act: str, door: str
) -> None:
    client, body = client_for(manager), acts_on(item)[act]
    if door == "page":
        answer = client.post(reverse(f"item-{act}", args=[item.pk]), body)
    else:
        address = f"/api/v1/items/{shown(item)}/{act}/"
        answer = client.post(address, body, content_type="application/json")
    assert answer.status_code == 403
    assert not Score.objects.exists() and not Decision.objects.exists()
    in_hand.refresh_from_db()
    assert (in_hand.state, in_hand.fence) == (Assignment.State.ACTIVE, 1)


def test_a_manager_claims_nothing_that_nobody_holds(
    item: Item, manager: User, client_for: ClientFor
) -> None:
    client = client_for(manager)
    assert client.post(f"/api/v1/items/{shown(item)}/claim/").status_code == 403
    assert client.post("/api/v1/queue/claim/").status_code == 403
    assert not Assignment.objects.exists()


def test_nor_flags_remarks_or_gives_back(
    in_hand: Assignment, item: Item, manager: User, client_for: ClientFor
) -> None:
    client = client_for(manager)
    remark = {"draft": script_of(item), "line": 1, "text": "Hm"}
    for address, body in (
        (f"/api/v1/items/{shown(item)}/remarks/", remark),
        (f"/api/v1/items/{shown(item)}/give-back/", {"how": "skipped", "why": "No"}),
        (f"/api/v1/items/{shown(item)}/feedback/", {"feedback": "- Use -path."}),
        (f"/api/v1/items/{shown(item)}/shorten/", {"feedback": "word " * 80}),
    ):
        answer = client.post(address, body, content_type="application/json")
        assert answer.status_code == 403, address
    assert client.post(reverse("item-flag", args=[item.pk]), {"flag": "Odd"}).status_code == 403
    assert not Remark.objects.exists() and not Flag.objects.exists()
    in_hand.refresh_from_db()
    assert in_hand.state == Assignment.State.ACTIVE


def test_the_page_shows_a_manager_the_item_and_nothing_to_press(
    in_hand: Assignment, item: Item, manager: User, client_for: ClientFor
) -> None:
    page = client_for(manager).get(reverse("item-review", args=[item.pk]))
    assert page.status_code == 200
    assert "You look at it as a manager." in page.text
    for act in ("score", "decide", "claim", "flag", "give-back"):
        assert reverse(f"item-{act}", args=[item.pk]) not in page.text
    assert reverse("queue") not in page.text


def test_who_is_both_reviews(item: Item, client_for: ClientFor) -> None:
    both = make_person("bea", "reviewer", "manager")
    answer = client_for(both).post(f"/api/v1/items/{shown(item)}/claim/")
    assert answer.status_code == 200
    assert Assignment.objects.get().reviewer == both
