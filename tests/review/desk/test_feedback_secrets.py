"""Secrets in a reviewer's feedback: shown before a model elsewhere reads them; in a study masked without a question."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from pipeline.ledger.outgoing_secrets import hash_secret
from pipeline.models import Endpoint, Refinement
from review.models import Assignment, Item
from review.queue import services as queue
from tests.catalog.analysis.planted import planted_secrets
from tests.keys import shown
from tests.review.desk.test_desk import score_next
from tests.review.maker import make_study

pytestmark = pytest.mark.django_db

ClientFor = Callable[[User], Client]
TOKEN = next(one for one in planted_secrets() if one.kind == "GitHub token")
OTHER = next(one for one in planted_secrets() if one.kind == "Stripe key")
FEEDBACK = f"It does not log in. Use {TOKEN.secret} for that."


@pytest.fixture(autouse=True)
def remote() -> None:
    Endpoint.objects.update(treat_as_remote=True)


@pytest.fixture
def scored(held_flagged: Assignment, reviewer: User) -> Item:
    score_next(held_flagged.item, reviewer, 0)
    return held_flagged.item


@pytest.mark.slow
def test_they_are_shown_and_the_reviewer_chooses(
    scored: Item, reviewer: User, client_for: ClientFor
) -> None:
    browser, url = client_for(reviewer), reverse("item-send-feedback", args=[scored.pk])
    asked = browser.post(url, {"feedback": FEEDBACK})
    page = asked.text
    assert asked.status_code == 422 and not Refinement.objects.exists()
    assert "GitHub token: feedback, line 1, column 25" in page and f"{FEEDBACK}</textarea>" in page
    assert (
        "The model that rewrites would read" in page
        and "Demo" not in page.split("would read")[0][-80:]
    )
    seen = asked.context["secrets_form"]["secrets_seen"].value()
    added = f"{FEEDBACK} List charges with {OTHER.secret}."
    chosen = {"secrets": "send", "secrets_seen": seen}
    more = browser.post(url, {"feedback": added, **chosen})
    assert more.status_code == 422 and "Stripe key" in more.text, "that one was not shown yet"
    assert browser.post(url, {"feedback": FEEDBACK, **chosen}).status_code == 302
    assert Refinement.objects.get().sent_secrets == [hash_secret(TOKEN.secret)]


def test_they_are_masked_by_choice_too(scored: Item, reviewer: User, client_for: ClientFor) -> None:
    url = reverse("item-send-feedback", args=[scored.pk])
    answer = client_for(reviewer).post(url, {"feedback": FEEDBACK, "secrets": "mask"})
    assert answer.status_code == 302 and Refinement.objects.get().sent_secrets == []


def test_nothing_is_asked_where_feedback_stays_here(
    scored: Item, reviewer: User, client_for: ClientFor
) -> None:
    Endpoint.objects.update(treat_as_remote=False)
    url = reverse("item-send-feedback", args=[scored.pk])
    assert client_for(reviewer).post(url, {"feedback": FEEDBACK}).status_code == 302


@pytest.mark.parametrize(("given", "count"), [({}, 0), ({"secrets": "send"}, 1)])
def test_the_api_masks_unless_it_is_told_otherwise(
    scored: Item, reviewer: User, client_for: ClientFor, given: dict[str, str], count: int
) -> None:
    url = f"/api/v1/items/{shown(scored)}/feedback/"
    body = {"feedback": FEEDBACK, **given}
    answer = client_for(reviewer).post(url, body, content_type="application/json")
    assert answer.status_code == 202 and len(Refinement.objects.get().sent_secrets) == count


@pytest.mark.parametrize("remote_or_not", [True, False])
@pytest.mark.parametrize("chosen", ["", "send"])
def test_a_study_masks_and_tells_nothing_by_a_question(
    manager: User, reviewer: User, client_for: ClientFor, remote_or_not: bool, chosen: str
) -> None:
    Endpoint.objects.update(treat_as_remote=remote_or_not)
    held = queue.claim_next(make_study(by=manager, reviewers=[reviewer]), by=reviewer)
    assert held is not None
    item = held.item
    score_next(item, reviewer, 0)
    url = reverse("item-send-feedback", args=[item.pk])
    answer = client_for(reviewer).post(url, {"feedback": FEEDBACK, "secrets": chosen})
    assert answer.status_code == 302
    assert Refinement.objects.get().sent_secrets == []
