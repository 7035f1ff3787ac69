"""The list of campaigns: filters with counts, orders, and how many there are."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from catalog.models import SavedView
from review.models import Campaign, Member
from tests.first_cases import first_cases
from tests.pipeline.query_counts import count_queries

ClientFor = Callable[[User], Client]
pytestmark = pytest.mark.django_db
LIST = "/campaigns/"


@pytest.fixture
def studies(manager: User, second_reviewer: User) -> None:
    for name, state, open_to_all in (
        ("Repair", "closed", False),
        ("Assessors", "open", True),
        ("Models", "setup", False),
    ):
        one = Campaign.objects.create(
            name=name, state=state, open_to_all=open_to_all, created_by=manager
        )
        if name == "Models":
            Member.objects.create(campaign=one, user=second_reviewer)


@pytest.mark.parametrize(
    ("query", "shown"),
    first_cases(
        3,
        [
            pytest.param({}, ["Models", "Assessors", "Repair"], id="newest"),
            pytest.param({"q": "MOD"}, ["Models"], id="by words"),
            pytest.param({"state": "open"}, ["Assessors"], id="by state"),
            pytest.param({"reviewers": "all"}, ["Assessors"], id="open to all"),
            pytest.param({"by": "mona"}, ["Models", "Assessors", "Repair"], id="by who made it"),
            pytest.param({"by": "nobody"}, [], id="by somebody else"),
            pytest.param({"sort": "oldest"}, ["Repair", "Assessors", "Models"], id="oldest"),
            pytest.param({"sort": "name"}, ["Assessors", "Models", "Repair"], id="name"),
            pytest.param({"sort": "state"}, ["Assessors", "Models", "Repair"], id="state"),
            pytest.param({"sort": "people"}, ["Assessors", "Models", "Repair"], id="people"),
        ],
    ),
)
def test_the_list_is_narrowed_and_sorted(
    studies: None, client_for: ClientFor, manager: User, query: dict[str, str], shown: list[str]
) -> None:
    page = client_for(manager).get(LIST, query)

    assert [campaign.name for campaign, _progress in page.context["rows"]] == shown
    assert page.context["said"] == f"{len(shown)} campaign{'' if len(shown) == 1 else 's'}"


@pytest.mark.slow
def test_each_count_is_what_the_list_has_when_one_follows_it(
    studies: None, client_for: ClientFor, manager: User
) -> None:
    client = client_for(manager)
    for query in ({}, {"state": "open"}, {"reviewers": "invited", "by": manager.username}):
        for group in client.get(LIST, query).context["groups"]:
            for chip in [one for one in group.chips if not one.current]:
                after = client.get(LIST + chip.url).context["rows"]
                assert str(len(after)) == chip.count, (query, group.name, chip.label)


@pytest.mark.slow
def test_a_value_that_does_not_exist_is_said_to_be_wrong(
    studies: None, client_for: ClientFor, manager: User
) -> None:
    answer = client_for(manager).get(LIST, {"state": "lost"})

    assert answer.status_code == 422 and "unknown filter value" in answer.text


@pytest.mark.slow
def test_the_list_takes_a_fixed_number_of_queries(
    studies: None, client_for: ClientFor, manager: User
) -> None:
    client, addresses = client_for(manager), [LIST, f"{LIST}?sort=people&state=open"]
    few = [count_queries(client, address) for address in addresses]
    for number in range(20):
        Campaign.objects.create(name=f"Study {number}", created_by=manager, state="open")

    assert [count_queries(client, address) for address in addresses] == few


@pytest.mark.slow
def test_views_are_kept(studies: None, client_for: ClientFor, manager: User) -> None:
    client = client_for(manager)
    data = {"listing": "campaign-list", "name": "Under way", "query": "state=open&sort=name"}
    assert client.post("/views/save/", data)["Location"] == f"{LIST}?state=open&sort=name"
    assert SavedView.objects.get().listing == "campaign-list"
    assert "Under way</a>" in client.get(LIST).text
