"""Tests that secrets in feedback reach a remote model only if the reviewer confirms, and that studies always mask
them."""

from __future__ import annotations

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
from tests.review.maker import ClientFor, make_study

pytestmark = pytest.mark.django_db

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


def test_they_are_shown_and_the_reviewer_chooses(scored: Item, as_reviewer: Client) -> None:
    browser, url = as_reviewer, reverse("item-send-feedback", args=[scored.pk])
    asked = browser.post(url, {"feedback": FEEDBACK})
    page = asked.text
    assert asked.status_code == 422 and not Refinement.objects.exists()
    assert "GitHub token: feedback, line 1, column 25" in page and f"{FEEDBACK}</textarea>" in page
    assert (
        "Visible to: The model that rewrites" in page
        and "Demo" not in page.split("Visible to:")[1][:80]
    )
    seen = asked.context["secrets_form"]["secrets_seen"].value()
    added = f"{FEEDBACK} List charges with {OTHER.secret}."
    chosen = {"secrets": "send", "secrets_seen": seen}
    more = browser.post(url, {"feedback": added, **chosen})
    assert more.status_code == 422 and "Stripe key" in more.text, "that one was not shown yet"
    assert browser.post(url, {"feedback": FEEDBACK, **chosen}).status_code == 302
    assert Refinement.objects.get().sent_secrets == [hash_secret(TOKEN.secret)]


def test_feedback_secrets_are_masked_on_request(scored: Item, as_reviewer: Client) -> None:
    page = reverse("item-send-feedback", args=[scored.pk])
    api = f"/api/v1/items/{shown(scored)}/feedback/"
    for url, more, is_remote, sent in (
        (page, {"secrets": "mask"}, True, 0),
        (page, {}, False, 0),  # no confirmation, because the feedback stays on this machine
        (api, {}, True, 0),
        (api, {"secrets": "send"}, True, 1),
    ):
        Refinement.objects.all().delete()
        Endpoint.objects.update(treat_as_remote=is_remote)
        body = {"feedback": FEEDBACK, **more}
        kind = {} if url == page else {"content_type": "application/json"}
        assert as_reviewer.post(url, body, **kind).status_code in (202, 302), (url, more)
        assert len(Refinement.objects.get().sent_secrets) == sent, (url, more)


@pytest.mark.parametrize("is_remote", [True, False])
def test_a_study_masks_and_tells_nothing_by_a_question(
    manager: User, reviewer: User, client_for: ClientFor, is_remote: bool
) -> None:
    Endpoint.objects.update(treat_as_remote=is_remote)
    study = make_study(by=manager, reviewers=[reviewer])
    for chosen in ("", "send"):
        held = queue.claim_next(study, by=reviewer)
        score_next(held.item, reviewer, 0)
        url = reverse("item-send-feedback", args=[held.item_id])
        answer = client_for(reviewer).post(url, {"feedback": FEEDBACK, "secrets": chosen})
        assert answer.status_code == 302
        assert Refinement.objects.latest("pk").sent_secrets == []
