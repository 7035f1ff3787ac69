"""Closing a campaign says what is lost, and takes a second press where something is."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from review import services
from review.models import Campaign, Item
from tests.page_forms import Form, forms_in
from tests.review.maker import add_item, make_study

ClientFor = Callable[[User], Client]


@pytest.fixture
def campaign(manager: User, reviewer: User) -> Campaign:
    """Two of three items are open, and somebody holds one of them."""
    made = make_study(by=manager, reviewers=[reviewer], items=3)
    first, second, _third = made.items.order_by("pk")
    Item.objects.filter(pk=first.pk).update(state="closed")
    services.claim_item(second, by=reviewer)
    return made


@pytest.fixture
def boss(manager: User, client_for: ClientFor) -> Client:
    return client_for(manager)


def state_form(html: str, campaign: Campaign) -> Form:
    """The last one on the page: the confirmation, where there is one."""
    return [one for one in forms_in(html) if one.action == f"/campaigns/{campaign.pk}/state/"][-1]


def press(boss: Client, campaign: Campaign, html: str, words: str) -> str:
    form = state_form(html, campaign)
    answer = boss.post(form.action, form.sent(form.press(words)), follow=True)
    campaign.refresh_from_db()
    return str(answer.content.decode())


@pytest.mark.slow
def test_it_asks_and_says_what_is_lost(boss: Client, campaign: Campaign) -> None:
    page = boss.get(f"/campaigns/{campaign.pk}/").content.decode()
    asked = press(boss, campaign, page, "Close")
    assert campaign.state == "open"
    assert "2 of 3 items are open:" in asked
    assert (
        "1 of them is in a reviewer&#x27;s hands." in asked
        or "1 of them is in a reviewer's" in asked
    )
    press(boss, campaign, asked, "Close it anyway")
    assert campaign.state == "closed"


def test_who_agreed_to_less_is_asked_again(boss: Client, campaign: Campaign) -> None:
    page = boss.get(f"/campaigns/{campaign.pk}/").content.decode()
    asked = press(boss, campaign, page, "Close")
    add_item(campaign, "one-more")
    again = press(boss, campaign, asked, "Close it anyway")
    assert campaign.state == "open"
    assert "3 of 4 items are open:" in again


def test_with_nothing_open_it_says_that_nothing_is_lost(boss: Client, campaign: Campaign) -> None:
    campaign.items.update(state="closed")
    page = boss.get(f"/campaigns/{campaign.pk}/").content.decode()
    first = campaign.items.order_by("pk")[0]
    Item.objects.filter(pk=first.pk).update(disputed=True)
    asked = press(boss, campaign, page, "Close")
    assert campaign.state == "open"
    assert "All 3 items are done:" in asked
    assert "1 item waits for an adjudicator" in asked
    press(boss, campaign, asked, "Close it")
    assert campaign.state == "closed"


def test_what_can_not_be_closed_is_refused_and_not_asked(boss: Client, campaign: Campaign) -> None:
    Campaign.objects.filter(pk=campaign.pk).update(state="setup")
    answer = boss.post(f"/campaigns/{campaign.pk}/state/", {"state": "closed"}, follow=True)
    assert "can&#x27;t become" in answer.content.decode()
