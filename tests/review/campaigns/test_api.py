"""Campaigns over the API: the same services, permissions and refusals as on the pages."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from pipeline.models import Configuration
from review import services
from review.campaigns.dashboard import read_dashboard
from review.campaigns.services import rules
from review.models import Adjudication, Campaign
from tests.keys import shown
from tests.make import make_action
from tests.review.maker import make_study
from tests.review.queue.test_studies import give, go_through

JSON = "application/json"


@pytest.fixture
def api(manager: User, client_for: Callable[[User], Client]) -> Client:
    return client_for(manager)


def test_a_campaign_is_made_at_once_with_people_and_items(api: Client, reviewer: User) -> None:
    configuration = Configuration.objects.get(is_default=True)
    answer = api.post(
        "/api/v1/campaigns/",
        {
            "name": "By program",
            "preset": "rigorous",
            "overlap": 3,
            "rubric": "# Right",
            "budget": 1_000_000,
            "configurations": [configuration.name],
            "reviewers": [reviewer.username],
            "actions": [make_action("Show the load").pk],
        },
        JSON,
    )
    assert answer.status_code == 201
    made = answer.json()
    assert (made["state"], made["overlap"], made["sham_share"]) == ("setup", 3, 20)
    assert (made["rubric"], made["budget"]) == ("# Right", 1_000_000)
    assert made["configurations"] == [configuration.name]
    assert [one["user"] for one in made["members"]] == ["rita"]
    assert Campaign.objects.get(pk=made["id"]).cases.count() == 1


def test_what_is_refused_leaves_nothing_behind(api: Client, stranger: User) -> None:
    answer = api.post(
        "/api/v1/campaigns/", {"name": "Half", "reviewers": [stranger.username]}, JSON
    )
    assert answer.status_code == 404
    assert not Campaign.objects.filter(name="Half").exists()


def test_rules_people_and_states_change_as_on_the_pages(
    api: Client, manager: User, reviewer: User, second_reviewer: User
) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=1)
    path = f"/api/v1/campaigns/{campaign.pk}/"
    assert api.patch(path, {"overlap": 2}, JSON).status_code == 409
    assert api.patch(path, {"limit_each": 7}, JSON).json()["limit_each"] == 7
    members = api.post(f"{path}members/", {"user": "rolf", "limit": 3, "paused": True}, JSON).json()
    assert {"user": "rolf", "limit": 3, "paused": True}.items() <= members["members"][1].items()
    assert api.post(f"{path}state/", {"state": "pilot"}, JSON).status_code == 409
    assert api.post(f"{path}state/", {"state": "closed"}, JSON).json()["state"] == "closed"
    assert api.post(f"{path}start-runs/").status_code == 409


@pytest.mark.slow
def test_progress_and_adjudication(
    api: Client, manager: User, reviewer: User, second_reviewer: User
) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer, second_reviewer], items=1, overlap=2)
    path = f"/api/v1/campaigns/{campaign.pk}/"
    assert api.get(f"{path}progress/").json()["reviews_left"] == 2
    go_through(campaign, reviewer, 0, 2, 2)
    services.claim_next(campaign, by=second_reviewer)
    item = campaign.items.get()
    give(item, second_reviewer, 2, 2, 2)
    read_dashboard(campaign)
    assert api.get(f"{path}progress/").json()["disputed"] == 1
    word = {"item": shown(item), "stage": "script", "value": 0, "why": "It prints names only."}
    assert api.post(f"{path}adjudicate/", {**word, "value": 3}, JSON).status_code == 422
    assert api.post(f"{path}adjudicate/", word, JSON).status_code == 204
    assert Adjudication.objects.get().value == 0


def test_others_are_refused(
    reviewer: User, manager: User, client_for: Callable[[User], Client]
) -> None:
    campaign = rules.create_campaign("Study", by=manager)
    client = client_for(reviewer)
    assert client.get("/api/v1/campaigns/").status_code == 403
    assert client.get(f"/api/v1/campaigns/{campaign.pk}/").status_code == 403
    assert client.post("/api/v1/campaigns/", {"name": "Mine"}, JSON).status_code == 403
