"""A blinded reviewer meets no verdict, model, other reviewer, execution or reference on any page or in the API."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from pipeline.models import Action, Assessment, Configuration, Draft, Feedback, Run
from review import services, studies
from review.models import Assignment, Campaign, Item, Score
from tests.people import make_person
from tests.review.maker import make_study
from tests.review.test_desk import score_next

ClientFor = Callable[[User], Client]
# Each stands in one place of the database and nowhere else.
SECRETS = {
    "verdict": "zqfunctionality",
    "difference": "zqdifference",
    "feedback": "zqfeedback",
    "refined": "zqrefined",
    "model": "zqmodel",
    "configuration": "zqconfiguration",
    "reviewer": "zqreviewer",
    "comment": "zqcomment",
    "reference": "zqreference",
    "note": "zqnote",
}
# What a browser or program calls by itself, and what only says how the API is made.
_NOT_READ = re.compile(r"^(admin/|logout|healthz|readyz|metrics|api/v1/(schema|docs))")

_CHOICES = [
    ("/actions/new/", ["configuration"]),
    ("/api/v1/configurations/", ["configuration"]),
]

pytestmark = pytest.mark.django_db


@pytest.fixture
def item(manager: User, reviewer: User) -> Item:
    """An item of a study that `reviewer` has in hand and somebody else has scored, full of secrets."""
    other = make_person(SECRETS["reviewer"], "reviewer")
    campaign = make_study(by=manager, reviewers=[reviewer, other], items=1, overlap=2)
    item = campaign.items.get()
    assert item.run is not None
    run = item.run
    Assessment.objects.filter(draft__run=run).update(
        functionality=SECRETS["verdict"], differences=[SECRETS["difference"]]
    )
    Feedback.objects.filter(draft__run=run).update(text=f"- {SECRETS['feedback']}")
    Draft.objects.filter(run=run, kind="refined").update(script=f"echo {SECRETS['refined']}\n")
    Draft.objects.filter(run=run).update(model=SECRETS["model"], note=SECRETS["note"])
    Configuration.objects.filter(pk=run.configuration_id).update(name=SECRETS["configuration"])
    Action.objects.filter(pk=run.action_id).update(reference=f"echo {SECRETS['reference']}\n")
    Item.objects.filter(pk=item.pk).update(execution=0.1234567)
    services.claim_next(campaign, by=other)
    for value in (0, 2, 2):
        score_next(item, other, value)
    Score.objects.update(comment=SECRETS["comment"])
    services.claim_next(campaign, by=reviewer)
    return Item.objects.get(pk=item.pk)


def told(text: str) -> list[str]:
    """Which secrets stand in a text."""
    found = [name for name, secret in SECRETS.items() if secret in text.lower()]
    return found + (["execution"] if "0.1234" in text else [])


def addresses(
    keys: dict[str, object], patterns: list[URLPattern | URLResolver], prefix: str = ""
) -> set[str]:
    """Every address of the product, with this item's keys in the places of its parameters."""
    found: set[str] = set()
    for one in patterns:
        route = prefix + re.sub(r"^\^|\$$|\\Z", "", str(one.pattern))
        if isinstance(one, URLResolver):
            found |= addresses(keys, one.url_patterns, route)
            continue
        part = route.partition("<")[0]
        kind = next(
            (
                name
                for name in ("campaigns", "studies", "items", "runs", "drafts", "actions")
                if name in part
            ),
            "",
        )
        filled = re.sub(r"\(\?P<\w+>[^)]*\)|<[^>]*>", str(keys.get(kind, 1)), route)
        found.add("/" + filled.replace("\\.", ".").replace("/?", "/"))
    return {one for one in found if "format" not in one and "(" not in one}


def pages_for(item: Item) -> list[str]:
    assert item.run is not None
    keys: dict[str, object] = {
        "campaigns": item.campaign_id,
        "studies": item.campaign_id,
        "items": item.pk,
        "runs": item.run_id,
        "actions": item.run.action_id,
        "drafts": item.run.drafts.get(kind="refined").pk,
    }
    every = addresses(keys, get_resolver().url_patterns)
    return sorted(one for one in every if not _NOT_READ.match(one[1:]))


def test_no_page_and_no_answer_of_the_api_tells_a_blinded_reviewer(
    item: Item, reviewer: User, client_for: ClientFor
) -> None:
    client, run = client_for(reviewer), item.run
    assert run is not None
    walked, telling = pages_for(item), {}
    assert reverse("run-detail", args=[run.pk]) in walked and f"/api/v1/items/{item.pk}/" in walked
    extra = [
        *(f"{reverse('search')}?q={secret}" for secret in (run.action.statement, f"run {run.pk}")),
        f"{reverse('item-review', args=[item.pk])}?show=2&against=1&side=1&change=refined-model",
        f"{reverse('action-compare', args=[run.action_id])}?run={run.pk}&run={run.pk}",
    ]
    for address in [*walked, *extra]:
        answer = client.get(address)
        if answer.status_code == 200 and not answer.streaming:
            found = told(answer.content.decode(errors="replace"))
            # The choice of configurations for a new run says nothing of who made this one.
            if found and (address, found) not in _CHOICES:
                telling[address] = found
    assert telling == {}


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


def test_a_manager_and_everybody_after_the_end_may_see(
    item: Item, reviewer: User, manager: User, client_for: ClientFor
) -> None:
    url = reverse("run-detail", args=[item.run_id])
    assert "refined" in told(client_for(manager).get(url).text)
    studies.move_campaign(item.campaign, Campaign.State.CLOSED, by=manager)
    assert "refined" in told(client_for(reviewer).get(url).text)


def test_what_one_has_in_hand_in_the_live_queue_is_hidden_until_it_is_scored(
    held_flagged: Assignment, reviewer: User, second_reviewer: User, client_for: ClientFor
) -> None:
    url = f"/api/v1/runs/{held_flagged.item.run_id}/"
    assert client_for(reviewer).get(url).json()["verdict"] is None
    assert client_for(second_reviewer).get(url).json()["verdict"] == "incorrect"
    score_next(held_flagged.item, reviewer, 0)
    assert client_for(reviewer).get(url).json()["verdict"] == "incorrect"


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
