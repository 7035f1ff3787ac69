"""A blinded reviewer meets no verdict, model, other reviewer, execution or reference on any page or in the API."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from pipeline.models import Action, Run
from review import services
from review.campaigns.services import states
from review.models import Assignment, Campaign, Item, Score
from tests.people import make_person
from tests.review.blinding.hidden_words import SECRETS, make_secret_item, told
from tests.review.desk.test_desk import score_next
from tests.review.maker import shown_to

ClientFor = Callable[[User], Client]
pytestmark = pytest.mark.django_db


@pytest.fixture
def item(manager: User, reviewer: User) -> Item:
    return make_secret_item(manager, reviewer)


@pytest.mark.slow
@pytest.mark.parametrize(
    "query",
    [
        pytest.param("runs/?verdict=incorrect", id="runs by verdict"),
        pytest.param(f"runs/?configuration={SECRETS['configuration']}", id="runs by configuration"),
        pytest.param("actions/?verdict=incorrect", id="actions by verdict"),
    ],
)
def test_what_is_hidden_is_not_found_by_a_filter(
    item: Item, reviewer: User, manager: User, client_for: ClientFor, query: str
) -> None:
    assert client_for(reviewer).get(f"/api/v1/{query}").json()["results"] == []
    assert len(client_for(manager).get(f"/api/v1/{query}").json()["results"]) == 1


@pytest.mark.slow
def test_who_is_through_still_meets_no_other_reviewer_and_no_verdict_elsewhere(
    item: Item, reviewer: User, client_for: ClientFor
) -> None:
    for value in (0, 2, 2):
        score_next(item, reviewer, value)
    page = client_for(reviewer).get(reverse("item-review", args=[item.pk])).text
    assert {"reviewer", "comment", "model", "configuration", "reference", "execution"}.isdisjoint(
        told(page)
    )
    assert told(client_for(reviewer).get(reverse("run-detail", args=[item.run_id])).text) == []


def test_between_the_stages_of_a_study_the_verdict_stays_hidden(
    item: Item, reviewer: User, client_for: ClientFor
) -> None:
    score_next(item, reviewer, 0)
    page = client_for(reviewer).get(reverse("item-review", args=[item.pk])).text
    assert told(page) == ["feedback"]


@pytest.mark.slow
def test_a_manager_and_everybody_after_the_end_may_see(
    item: Item, reviewer: User, manager: User, client_for: ClientFor
) -> None:
    url = reverse("run-detail", args=[item.run_id])
    assert "refined" in told(client_for(manager).get(url).text)
    states.move_campaign(item.campaign, Campaign.State.CLOSED, by=manager)
    assert "refined" in told(client_for(reviewer).get(url).text)


def test_what_one_has_in_hand_in_the_live_queue_is_hidden_until_it_is_scored(
    held_flagged: Assignment, reviewer: User, second_reviewer: User, client_for: ClientFor
) -> None:
    url = f"/api/v1/runs/{held_flagged.item.run_id}/"
    assert client_for(reviewer).get(url).json()["verdict"] is None
    score_next(held_flagged.item, reviewer, 0)
    assert client_for(reviewer).get(url).json()["verdict"] == "incorrect"
    # Who scored it may skip it yet: then somebody else is asked.
    assert client_for(second_reviewer).get(url).json()["verdict"] is None


@pytest.mark.slow
def test_what_waits_is_hidden_from_whoever_might_score_it(
    flagged: Item, reviewer: User, second_reviewer: User, curator: User, client_for: ClientFor
) -> None:
    url, page = f"/api/v1/runs/{flagged.run_id}/", reverse("run-detail", args=[flagged.run_id])
    both = make_person("ren", "reviewer", "curator")
    for person in (reviewer, second_reviewer, both):
        assert client_for(person).get(url).json()["verdict"] is None
        shown = client_for(person).get(page).text
        assert "Hidden for now" in shown and "-path" not in shown
    assert client_for(curator).get(url).json()["verdict"] == "incorrect"


@pytest.mark.slow
def test_who_asked_for_the_script_or_for_the_verdict_sees_it(
    flagged: Item, reviewer: User, second_reviewer: User, client_for: ClientFor
) -> None:
    url = f"/api/v1/runs/{flagged.run_id}/"
    Run.objects.filter(pk=flagged.run_id).update(asked_by=reviewer)
    assert client_for(reviewer).get(url).json()["verdict"] == "incorrect"
    assert client_for(second_reviewer).get(url).json()["verdict"] is None
    services.claim_item(flagged, by=second_reviewer)
    services.reveal(flagged, "verdict", by=second_reviewer)
    assert client_for(second_reviewer).get(url).json()["verdict"] == "incorrect"


def test_what_is_decided_is_hidden_no_more(
    flagged: Item, reviewer: User, second_reviewer: User, client_for: ClientFor
) -> None:
    assert flagged.run is not None
    first = flagged.run.drafts.get(number=1)
    services.claim_item(flagged, by=reviewer)
    services.decide(
        flagged,
        kind="reject",
        draft_sha256=first.sha256,
        shown=shown_to(reviewer, flagged),
        reason="No.",
        by=reviewer,
    )
    url = f"/api/v1/runs/{flagged.run_id}/"
    assert client_for(second_reviewer).get(url).json()["verdict"] == "incorrect"


def test_with_each_score_stands_what_was_visible_and_whether_the_action_was_known(
    item: Item, reviewer: User
) -> None:
    score_next(item, reviewer, 0)
    visible = Score.objects.get(reviewer=reviewer).visible
    assert visible == {
        "verdict": False,
        "feedback": False,
        "models": False,
        "reviewers": False,
        "execution": False,
        "reference": False,
        "asked": False,
        "seen_before": False,
    }
    Run.objects.filter(pk=item.run_id).update(asked_by=reviewer)
    Action.objects.filter(pk=item.run.action_id).update(asked_by=reviewer)  # type: ignore[union-attr]
    score_next(Item.objects.get(pk=item.pk), reviewer, 2)
    assert Score.objects.filter(reviewer=reviewer).last().visible["asked"] is True  # type: ignore[union-attr]
