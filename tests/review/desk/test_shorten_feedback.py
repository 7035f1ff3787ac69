"""Long feedback on the review screen: the button, the answer beside it, nothing typed lost."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from pipeline.models import Endpoint, Shortening
from review.models import Assignment, Item
from tests.keys import shown
from tests.review.desk.test_desk import score_next, send

ClientFor = Callable[[User], Client]
LONG = "This is wrong for many reasons. " * 20


@pytest.fixture
def scored(held_flagged: Assignment, reviewer: User) -> Item:
    score_next(held_flagged.item, reviewer, 0)
    return held_flagged.item


def test_it_is_asked_for_and_shown_beside_what_was_typed(
    scored: Item, reviewer: User, client_for: ClientFor
) -> None:
    client = client_for(reviewer)
    status, page = send(client, scored, "item-shorten", feedback=LONG)
    asked = Shortening.objects.get()
    assert status == 200 and reverse("item-shorter", args=[scored.pk, asked.pk]) in page
    Shortening.objects.filter(pk=asked.pk).update(state="done", shorter="- <b>Wrong</b>.")
    page = client.get(reverse("item-shorter", args=[scored.pk, asked.pk])).text
    assert "- &lt;b&gt;Wrong&lt;/b&gt;." in page and "instead of 120" in page
    assert "hx-trigger" not in page, "it has stopped asking"


def test_without_a_script_the_page_comes_back_with_all_that_was_typed(
    scored: Item, reviewer: User, client_for: ClientFor
) -> None:
    url = reverse("item-shorten", args=[scored.pk])
    page = client_for(reviewer).post(url, {"feedback": LONG}).text
    assert f"\n{LONG}</textarea>" in page and "The model shortens it" in page


@pytest.mark.parametrize(
    ("feedback", "status", "said"),
    [
        pytest.param("Short.", 422, "short enough", id="short"),
        pytest.param("", 422, "Write your feedback first", id="empty"),
    ],
)
def test_a_refusal_stands_beside_it(
    scored: Item, reviewer: User, client_for: ClientFor, feedback: str, status: int, said: str
) -> None:
    assert send(client_for(reviewer), scored, "item-shorten", feedback=feedback)[0] == status
    assert said in send(client_for(reviewer), scored, "item-shorten", feedback=feedback)[1]
    assert not Shortening.objects.exists()


def test_before_the_score_and_in_other_hands_nothing_is_asked(
    held_flagged: Assignment, reviewer: User, second_reviewer: User, client_for: ClientFor
) -> None:
    item = held_flagged.item
    assert send(client_for(reviewer), item, "item-shorten", feedback=LONG)[0] == 409
    score_next(item, reviewer, 0)
    assert send(client_for(second_reviewer), item, "item-shorten", feedback=LONG)[0] == 409
    assert not Shortening.objects.exists()
    assert send(client_for(reviewer), item, "item-shorten", feedback=LONG)[0] == 200


def test_nobody_reads_what_somebody_else_typed(
    scored: Item, reviewer: User, second_reviewer: User, client_for: ClientFor
) -> None:
    send(client_for(reviewer), scored, "item-shorten", feedback=LONG)
    asked = Shortening.objects.get()
    page = reverse("item-shorter", args=[scored.pk, asked.pk])
    for address in (page, f"/api/v1/items/{shown(scored)}/shorten/{asked.pk}/"):
        assert client_for(second_reviewer).get(address).status_code == 404
        assert client_for(reviewer).get(address).status_code == 200


def test_the_button_is_there_only_where_a_model_is(
    scored: Item, reviewer: User, client_for: ClientFor, settings: object
) -> None:
    url = reverse("item-review", args=[scored.pk])
    assert "Shorten it" in client_for(reviewer).get(url).text
    Endpoint.objects.update(enabled=False)
    settings.SCRIPTSMITH_ENDPOINTS = []  # type: ignore[attr-defined]
    page = client_for(reviewer).get(url).text
    assert "Shorten it" not in page and "data-long-words" in page


def test_the_api_asks_and_says_what_became_of_it(
    scored: Item, reviewer: User, client_for: ClientFor
) -> None:
    client, url = client_for(reviewer), f"/api/v1/items/{shown(scored)}/shorten/"
    made = client.post(url, {"feedback": LONG}, content_type="application/json")
    assert made.status_code == 202 and made.json()["state"] == "waiting"
    assert client.get(f"{url}{made.json()['id']}/").json()["text"] == LONG.strip()
    refused = client.post(url, {"feedback": "Short."}, content_type="application/json")
    assert refused.status_code == 422
