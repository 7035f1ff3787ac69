"""Tests for sending items of a closed study to the review queue, from the item list, the report and the API."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from core.audit import events_of
from pipeline.models import Run
from review import services
from review.campaigns.services import send_to_live_queue
from review.models import Campaign, Item
from tests.keys import shown
from tests.review.maker import ClientFor, make_study
from tests.review.queue.test_studies import go_through


@pytest.fixture
def closed(manager: User, reviewer: User) -> Campaign:
    campaign = make_study(by=manager, reviewers=[reviewer], items=3)
    Campaign.objects.filter(pk=campaign.pk).update(state="closed")
    campaign.refresh_from_db()
    return campaign


def live() -> set[int]:
    return set(Item.objects.filter(campaign__kind="live").values_list("run", flat=True))


def test_those_ticked_are_sent_once_and_said_to_be_there(
    closed: Campaign, manager: User, client_for: ClientFor, reviewer: User
) -> None:
    boss = client_for(manager)
    first, second, third = closed.items.order_by("pk")
    address = f"/campaigns/{closed.pk}/items/"
    page = boss.get(address).text
    assert page.count('form="send-items"') == 3
    ticked = {"item": [first.pk, second.pk], "next": address}
    answer = boss.post(f"/campaigns/{closed.pk}/send/", ticked, follow=True)
    assert answer.redirect_chain == [(address, 302)]
    assert "2 items were sent to the review queue." in answer.text
    assert live() == {first.run_id, second.run_id}
    page = answer.text
    assert (page.count("in the review queue<"), page.count('form="send-items"')) == (2, 1)
    # Items that are already in the queue stay unchanged, and the message counts them.
    answer = boss.post(f"/campaigns/{closed.pk}/send/", {"item": [first.pk, third.pk]}, follow=True)
    assert (
        "1 item was sent to the review queue. Not sent: 1 already in the review queue."
        in answer.text
    )
    assert len(live()) == 3
    assert [
        one.changes["items"] for one in events_of(closed, "items sent to the review queue")
    ] == [*(["", "2"], ["", "1"])]
    # A reviewer finds the items and decides.
    assert services.waiting_for(services.live_queue(), reviewer).count() == 3


def test_undecidable_items_are_left_out(closed: Campaign, manager: User, reviewer: User) -> None:
    empty, elsewhere, fine = closed.items.order_by("pk")
    Run.objects.filter(pk=empty.run_id).update(state="failed")
    other = make_study(by=manager, reviewers=[reviewer], items=1, name="Other")
    other.items.update(run=elsewhere.run_id)
    sent = send_to_live_queue(closed, [empty, elsewhere, fine], by=manager)
    assert (sent.made, sent.there, sent.without, sent.studied) == (1, 0, 1, 1)
    assert live() == {fine.run_id}


@pytest.mark.slow
def test_an_open_study_sends_nothing(manager: User, reviewer: User, client_for: ClientFor) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=1)
    boss, item = client_for(manager), campaign.items.get()
    address = f"/campaigns/{campaign.pk}/send/"
    assert "send-items" not in boss.get(f"/campaigns/{campaign.pk}/items/").text
    answer = boss.post(address, {"item": [item.pk]}, follow=True)
    assert "Close the study first" in answer.text
    Campaign.objects.filter(pk=campaign.pk).update(state="closed")
    answer = boss.post(address, {"item": ["soup"], "next": "https://elsewhere.example/"})
    assert answer["Location"] == f"/campaigns/{campaign.pk}/items/"
    assert "Select the items" in boss.get(answer["Location"]).text
    assert not live()


@pytest.mark.slow
def test_the_report_and_the_api_send_too(manager: User, reviewer: User, as_manager: Client) -> None:
    closed = make_study(by=manager, reviewers=[reviewer], items=2)
    go_through(closed, reviewer, 2, 2, 2)
    Campaign.objects.filter(pk=closed.pk).update(state="closed")
    item = closed.items.order_by("pk")[0]
    arm = item.configuration.name
    as_manager.get(f"/campaigns/{closed.pk}/report/")
    listed = as_manager.get(
        f"/campaigns/{closed.pk}/report/items/",
        {"figure": "first_pass_accuracy", "which": "all", "configuration": arm},
    )
    assert listed.text.count('form="send-items"') == 2
    key = shown(item)
    address = f"/api/v1/campaigns/{closed.pk}/send/"
    answer = as_manager.post(address, {"items": [key]}, content_type="application/json")
    assert answer.json() == {"made": 1, "there": 0, "without": 0, "studied": 0}
    answer = as_manager.post(address, {"items": []}, content_type="application/json")
    assert answer.status_code == 422
    Campaign.objects.filter(pk=closed.pk).update(state="paused")
    answer = as_manager.post(address, {"items": [key]}, content_type="application/json")
    assert answer.status_code == 409
